// Days are rolled up while the disk is full: that fails, answers stay exact, and it goes on once there is room.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '../../server/lib/utc-day.ts'
import { createHit } from '../contracts/hit-engine.ts'
import { findSmallDiskProblem, toSmallDiskCommand } from './small-disk.ts'

const reason = findSmallDiskProblem()
const root = join(import.meta.dir, '../..')
const DISK_BYTES = 48 * 1024 * 1024
const DAYS = 12
const FIRST = Date.UTC(2026, 4, 10) / DAY_MS
const CLICKS = 2000

setDefaultTimeout(120_000)

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'roll-ups-full-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** Each click has a referrer of its own, so that roll-ups are as large as hits. */
function writeHits() {
  const lines = Array.from({ length: DAYS * CLICKS }, (_, n) => {
    const day = FIRST + Math.floor(n / CLICKS)
    const at = day * DAY_MS + (n % CLICKS) * 30_000
    return JSON.stringify(
      createHit({ at, visitor: String(day * 1000 + (n % 700)), referrer: `${Bun.hash(String(n))}.example` }),
    )
  })
  writeFileSync(join(directory, 'batch.ndjson'), `${lines.join('\n')}\n`)
}

interface Report {
  failed: number
  rolledWhileFull: number
  rolledAfter: number
  whileFull: { clicks: number; visitors: number; days: number }
  after: { clicks: number; visitors: number; days: number }
}

const toScript = (dir: string) => `
  import { rmSync } from 'node:fs'
  import { setLogLevel } from ${JSON.stringify(join(root, 'server/lib/log.ts'))}
  import { openDuckDb } from ${JSON.stringify(join(root, 'server/storage/hits/duckdb/engine.ts'))}
  import { fillDisk } from ${JSON.stringify(join(root, 'tests/faults/small-disk.ts'))}
  setLogLevel('silent')
  const path = ${JSON.stringify(join(dir, 'hits.duckdb'))}
  const now = ${(FIRST + DAYS) * DAY_MS + DAY_MS / 2}
  const open = () => openDuckDb({ path, rollUpRestMs: 0 })
  let engine = await open()
  await engine.load({ node: 'a', number: 1, path: ${JSON.stringify(join(dir, 'batch.ndjson'))} })
  const query = { workspaceId: 1, start: 0, end: now, classes: ['human'], filters: [], groupBy: { by: 'total' } }
  const ask = async () => {
    const { answers, origin } = await engine.explain(query)
    const days = origin.filter(({ from }) => from === 'days').reduce((sum, { start, end }) => sum + (end - start) / ${DAY_MS}, 0)
    return { clicks: answers[0].clicks, visitors: answers[0].visitors, days }
  }
  fillDisk(${JSON.stringify(join(dir, 'filler'))})
  let failed = 0
  let rolledWhileFull = 0
  for (let tries = 0; tries < 6; tries++)
    try {
      if ((await engine.rollUp(now)).rolled) rolledWhileFull++
    } catch {
      failed++
      // As its supervisor does with an engine that is dead.
      try { await engine.mark('') } catch { await engine.close().catch(() => {}); engine = await open() }
    }
  const whileFull = await ask()
  rmSync(${JSON.stringify(join(dir, 'filler'))})
  await engine.close().catch(() => {})
  engine = await open()
  let rolledAfter = 0
  while ((await engine.rollUp(now)).rolled) rolledAfter++
  const after = await ask()
  await engine.close()
  console.log(JSON.stringify({ failed, rolledWhileFull, rolledAfter, whileFull, after }))`

describe.skipIf(reason !== undefined)(`a full disk${reason ? ` (skipped: ${reason})` : ''}`, () => {
  test('fails the roll-up of a day, and no answer', async () => {
    writeHits()
    const command = [
      ...toSmallDiskCommand(directory, DISK_BYTES),
      process.execPath,
      '-e',
      toScript(directory),
    ]
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit', cwd: root })
    const output = await new Response(child.stdout).text()
    expect(await child.exited).toBe(0)
    const { failed, rolledAfter, whileFull, after } = JSON.parse(output) as Report
    const exact = { clicks: DAYS * CLICKS, visitors: DAYS * 700 }
    expect(failed).toBeGreaterThan(0)
    expect(whileFull).toMatchObject(exact)
    expect(whileFull.days).toBeLessThan(DAYS)
    expect(rolledAfter).toBeGreaterThan(0)
    expect(after).toEqual({ ...exact, days: DAYS })
  })
})
