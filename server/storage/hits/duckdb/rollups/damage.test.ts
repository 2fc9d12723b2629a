// Damaged roll-ups cost sums, which are made again. They keep nothing from being deleted or loaded, and the hits stay.

import { afterEach, beforeEach, expect } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createHit, createHitQuery } from '../../../../../tests/contracts/hit-engine.ts'
import { damageBlocks } from '../../../../../tests/support/rollups/damage-blocks.ts'
import { full, quick } from '../../../../../tests/support/suite.ts'
import { setLogLevel } from '../../../../lib/log.ts'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { Hit } from '../../hit.ts'
import { type DuckDbEngine, openDuckDb } from '../engine.ts'

setLogLevel('silent')

const FIRST = Date.UTC(2026, 4, 4) / DAY_MS
const DAYS = 6
const NOW = (FIRST + DAYS) * DAY_MS + DAY_MS / 2
const REMOVAL = { workspaceId: 1, importId: 7 }
/** Blocks with anything else stay as they are. */
const OTHERS = ['hits_sorted', 'hits_arrived', 'marks', 'layout', 'roll_marks', 'roll_rules', 'roll_days']

let directory: string
let path: string
let engine: DuckDbEngine

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'damage-'))
  path = join(directory, 'hits.duckdb')
  engine = await open()
})
afterEach(async () => {
  await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

const open = () => openDuckDb({ path, batchDir: directory, runHits: 100, rollUpRestMs: 0 })

/** Workspaces 1 and 2 have 30 clicks a day each. Import 7 is in workspace 1. */
const createDay = (day: number, importId: number | null = null): Hit[] =>
  Array.from({ length: 60 }, (_, n) =>
    createHit({
      at: day * DAY_MS + n * 60_000,
      workspaceId: 1 + (n % 2),
      visitor: String(1 + (n % 13)),
      referrerUrl: `https://site-${n % 7}.example/`,
      utmCampaign: `marker-of-${1 + (n % 2)}`,
      importId: n % 2 ? null : importId,
    }),
  )

async function load(number: number, hits: Hit[]) {
  const file = join(directory, `batch-${number}`)
  writeFileSync(file, hits.map((hit) => `${JSON.stringify(hit)}\n`).join(''))
  await engine.load({ node: 'a', number, path: file })
}

async function rollUpAll() {
  while ((await engine.rollUp(NOW)).rolled);
}

const ask = async (workspaceId = 1) => {
  const query = createHitQuery({ workspaceId, start: FIRST * DAY_MS, end: NOW })
  const { answers, origin } = await engine.explain(query)
  const rolled = origin.filter(({ from }) => from === 'days')
  return {
    clicks: answers[0]?.clicks,
    rolledDays: rolled.reduce((sum, { start, end }) => sum + (end - start) / DAY_MS, 0),
  }
}

const listFiles = () => readdirSync(directory).filter((name) => !name.startsWith('batch-'))

/**
 * Rolls up six days, the fourth of which has an import, and damages a column of `roll_urls`. On that day the table has as
 * many rows as in a large installation, where each column has blocks of its own.
 * @param workspaces how many share these rows
 */
async function damageUrls(column: string, workspaces: number) {
  for (let n = 0; n < DAYS; n++) await load(1 + n, createDay(FIRST + n, n === 3 ? 7 : null))
  await engine.sorted()
  await rollUpAll()
  await engine.close()
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  await connection.run(
    `INSERT INTO roll_urls SELECT 1 + (hash(n) % ${workspaces})::BIGINT, ${FIRST + 3}, (hash(n) % 200)::UTINYINT, hash(n)::VARCHAR, 1, 1
     FROM range(300000) AS numbers(n)`,
  )
  await connection.run(`UPDATE roll_marks SET total = total + 300000 WHERE day = ${FIRST + 3}`)
  await connection.run('CHECKPOINT')
  connection.closeSync()
  instance.closeSync()
  await damageBlocks(path, { table: 'roll_urls', column, others: OTHERS })
  engine = await open()
  expect((await ask()).rolledDays).toBe(DAYS)
}

full(
  'a workspace is erased although roll-ups are damaged, and the sums of the others are made again',
  async () => {
    await damageUrls('value', 2)
    await engine.erase([2])
    expect([(await ask(1)).clicks, (await ask(2)).clicks]).toEqual([30 * DAYS, 0])
    expect(await engine.mark('a')).toBe(DAYS)
    expect(listFiles()).toEqual(['hits.duckdb'])
    await rollUpAll()
    expect(await ask()).toEqual({ clicks: 30 * DAYS, rolledDays: DAYS })
    expect(readFileSync(path).includes('marker-of-2')).toBe(false)
  },
)

quick('a workspace is not erased from damaged hits, and the file stays', async () => {
  await load(1, createDay(FIRST))
  await load(2, createDay(FIRST + 1))
  await engine.sorted()
  await engine.close()
  await damageBlocks(path, { table: 'hits_sorted', others: ['marks', 'layout', 'roll_marks', 'roll_rules'] })
  engine = await open()
  await expect(engine.erase([2])).rejects.toThrow('Corrupt')
  expect(listFiles()).toEqual(['hits.duckdb'])
  expect(await engine.mark('a')).toBe(2)
})

quick('an import is deleted although roll-ups are damaged, and the engine goes on', async () => {
  await damageUrls('workspace_id', 1e9)
  await engine.deleteImported(REMOVAL)
  expect(await engine.mark('a')).toBe(DAYS)
  expect(await ask()).toEqual({ clicks: 30 * (DAYS - 1), rolledDays: 0 })
  await rollUpAll()
  expect(await ask()).toEqual({ clicks: 30 * (DAYS - 1), rolledDays: DAYS })
  expect(listFiles().filter((name) => name.includes('corrupt'))).toEqual([])
})

full('damage in roll-ups that a checkpoint meets costs an opening, and no hits', async () => {
  await damageUrls('value', 2)
  await expect(engine.deleteImported(REMOVAL)).rejects.toThrow('checkpoint')
  await engine.close()
  engine = await open()
  expect(await engine.mark('a')).toBe(DAYS)
  await engine.deleteImported(REMOVAL)
  expect((await ask()).clicks).toBe(30 * (DAYS - 1))
  await rollUpAll()
  expect(await ask()).toEqual({ clicks: 30 * (DAYS - 1), rolledDays: DAYS })
  // A checkpoint again.
  await engine.backup(join(directory, 'copy'))
  expect(listFiles().sort()).toEqual(['copy', 'hits.duckdb'])
})

full('a workspace is erased while the log has deletions that no checkpoint can write', async () => {
  await damageUrls('value', 2)
  await expect(engine.deleteImported(REMOVAL)).rejects.toThrow('checkpoint')
  await engine.erase([2])
  expect([(await ask(1)).clicks, (await ask(2)).clicks]).toEqual([30 * (DAYS - 1), 0])
  expect(listFiles()).toEqual(['hits.duckdb'])
  await rollUpAll()
  expect((await ask()).rolledDays).toBe(DAYS)
})
