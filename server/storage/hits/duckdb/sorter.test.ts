import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import { atScale, quick } from '../../../../tests/support/suite.ts'
import type { Hit } from '../hit.ts'
import type { HitEngine } from '../hit-engine.ts'
import { openDuckDb } from './engine.ts'
import { openHitSorter } from './sorter.ts'

const DAY = 86_400_000
const T0 = Date.parse('2026-03-01T00:00:00Z')

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sort-'))
  path = join(directory, 'hits.duckdb')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

async function load(engine: HitEngine, number: number, hits: Hit[]) {
  const file = join(directory, `${number}.ndjson`)
  writeFileSync(file, hits.map((each) => `${JSON.stringify(each)}\n`).join(''))
  await engine.load({ node: 'a', number, path: file })
}

/** The contents of each table of a closed file. */
async function read(sql: string) {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY', threads: '1' })
  const connection = await instance.connect()
  const rows = (await connection.runAndReadAll(sql)).getRows()
  connection.closeSync()
  instance.closeSync()
  return rows.map((row) => row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)))
}
const tables = () =>
  read('SELECT (SELECT count(*) FROM hits_arrived), (SELECT count(*) FROM hits_sorted)').then(([row]) => row)

test('sorts history by workspace, day and visitor, and leaves less than a run as it arrived', async () => {
  const engine = await openDuckDb({ path, runHits: 20 })
  const hits = Array.from({ length: 30 }, (_, n) =>
    createHit({
      at: T0 + ((n * 7) % 30) * (DAY / 10),
      workspaceId: 1 + (n % 2),
      visitor: String((n * 5) % 7),
    }),
  )
  await load(engine, 1, hits)
  await engine.sorted()
  await engine.close()
  expect(await tables()).toEqual([10, 20])
  const kept = await read(
    `SELECT workspace_id, recorded_at // ${DAY}, visitor % ${2 ** 48}, recorded_at FROM hits_sorted ORDER BY rowid`,
  )
  const inOrder = kept.toSorted((a, b) => {
    const at = a.findIndex((cell, n) => cell !== b[n])
    return at < 0 ? 0 : Number(a[at]) - Number(b[at])
  })
  expect(kept).toEqual(inOrder)
  const oldest = hits.map((each) => each.at).toSorted((a, b) => a - b)
  expect(await read('SELECT max(recorded_at) FROM hits_sorted')).toEqual([[oldest[19] as number]])
})

test('late hits count at once, and are sorted with the next run', async () => {
  const engine = await openDuckDb({ path, runHits: 5 })
  const at = (moment: number, count: number) => Array.from({ length: count }, () => createHit({ at: moment }))
  await load(engine, 1, [...at(T0 + 5 * DAY, 5), ...at(T0 + 6 * DAY, 3)])
  await engine.sorted()
  await load(engine, 2, at(T0, 2))
  const day = (n: number) => ({ start: T0 + n * DAY, end: T0 + (n + 1) * DAY })
  const perDay = async () =>
    Promise.all([0, 5, 6].map(async (n) => (await engine.ask(createHitQuery(day(n))))[0]?.clicks))
  expect(await perDay()).toEqual([2, 5, 3])
  await load(engine, 3, at(T0 + 7 * DAY, 1))
  await engine.sorted()
  expect(await perDay()).toEqual([2, 5, 3])
  await engine.close()
  expect(await read('SELECT recorded_at, count(*) FROM hits_arrived GROUP BY 1')).toEqual([[T0 + 7 * DAY, 1]])
})

test('sorts more hits of one millisecond than a run takes', async () => {
  const engine = await openDuckDb({ path, runHits: 3 })
  await load(
    engine,
    1,
    Array.from({ length: 10 }, () => createHit({ at: T0 })),
  )
  await engine.sorted()
  await engine.close()
  expect(await tables()).toEqual([0, 10])
})

test('work that pauses the sorting again and again, as roll-ups do, does not keep it from its turn', async () => {
  let runs = 0
  const transact = async () => {
    runs++
    return 0 as never
  }
  const sorter = openHitSorter({ transact, runHits: 1 })
  const pauseUntil = async (wanted: number) => {
    for (let works = 0; runs < wanted && works < 60; works++) {
      await sorter.runPaused(() => Bun.sleep(20))
      await Bun.sleep(50)
    }
  }
  await pauseUntil(1)
  await sorter.runLoad(async () => 2)
  await pauseUntil(2)
  expect(runs).toBe(2)
  await sorter.close()
})

quick('returns referrers and their URLs unchanged', async () => {
  const engine = await openDuckDb({ path, runHits: 6 })
  const pairs: [string | null, string | null][] = [
    [null, null],
    ['a.example', null],
    [null, 'https://a.example/'],
    ['a.example', 'https://a.example/'],
    ['a.example', 'https://www.a.example/'],
    ['a.example', 'http://a.example/'],
    ['a.example', 'https://a.example/page'],
    ['', 'https:///'],
    ['a.example', ''],
  ]
  await load(
    engine,
    1,
    pairs.flatMap(([referrer, referrerUrl], n) => [
      createHit({ referrer, referrerUrl, linkId: n }),
      createHit(),
    ]),
  )
  await engine.sorted()
  for (const [linkId, [, referrerUrl]] of pairs.entries()) {
    const answer = await engine.ask(
      createHitQuery({
        filters: [{ column: 'linkId', values: [linkId], negate: false }],
        groupBy: { by: 'referrerUrl', limit: 9, nullAs: 'nothing' },
      }),
    )
    const expected = { key: referrerUrl ?? 'nothing', clicks: 1, visitors: 1 }
    // Link 1 has the hits in between too.
    if (linkId === 1) expect(answer).toContainEqual({ key: 'nothing', clicks: 10, visitors: 10 })
    else expect(answer).toEqual([expected])
  }
  await engine.close()
})

test('killed while it loads and sorts, the engine has every batch that it confirmed, and each hit once', async () => {
  const perBatch = 400
  const lines = Array.from({ length: perBatch }, (_, n) =>
    JSON.stringify(createHit({ at: T0 + n * 1000, visitor: String(1 + n) })),
  )
  writeFileSync(join(directory, 'batch'), `${lines.join('\n')}\n`)
  const script = `
    import { openDuckDb } from ${JSON.stringify(join(import.meta.dir, 'engine.ts'))}
    const engine = await openDuckDb({ path: ${JSON.stringify(path)}, runHits: 100 })
    for (let number = await engine.mark('a') + 1; ; number++) {
      await engine.load({ node: 'a', number, path: ${JSON.stringify(join(directory, 'batch'))} })
      console.log(number)
      void engine.sorted()
      await Bun.sleep(130)
    }`
  let acknowledged = 0
  for (let round = 1; round <= atScale({ quick: 1, full: 4, soak: 4 }); round++) {
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'ignore' })
    const wanted = acknowledged + 2
    for await (const chunk of child.stdout) {
      acknowledged = Math.max(acknowledged, ...new TextDecoder().decode(chunk).trim().split('\n').map(Number))
      if (acknowledged >= wanted) {
        // At some moment during the runs that follow a load.
        await Bun.sleep(100 + round * 15)
        break
      }
    }
    child.kill('SIGKILL')
    await child.exited
    const engine = await openDuckDb({ path, runHits: 1e9 })
    const mark = await engine.mark('a')
    expect(mark).toBeGreaterThanOrEqual(acknowledged)
    expect(await engine.ask(createHitQuery())).toEqual([
      { key: null, clicks: mark * perBatch, visitors: perBatch },
    ])
    await engine.close()
  }
  const [, sorted] = (await tables()) as number[]
  expect(sorted).toBeGreaterThan(0)
}, 120_000)
