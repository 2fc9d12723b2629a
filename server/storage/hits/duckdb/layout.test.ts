import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { HitEngine } from '../hit-engine.ts'
import { openDuckDb } from './engine.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'layout-'))
  path = join(directory, 'hits.duckdb')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const batch = (number: number, count: number) => {
  const file = join(directory, `${number}.ndjson`)
  writeFileSync(file, Array.from({ length: count }, () => `${JSON.stringify(createHit())}\n`).join(''))
  return { node: 'a', number, path: file }
}
const clicks = async (engine: HitEngine) => (await engine.ask(createHitQuery()))[0]?.clicks
async function run(...statements: string[]) {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  for (const statement of statements) await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
}

/** The statements of the first release, word for word. */
const LAYOUT_1 = [
  `CREATE TABLE IF NOT EXISTS hits (node VARCHAR NOT NULL, id BIGINT NOT NULL, recorded_at BIGINT NOT NULL,
    workspace_id BIGINT NOT NULL, link_id BIGINT NOT NULL, outcome VARCHAR NOT NULL, class VARCHAR NOT NULL,
    trigger VARCHAR NOT NULL, visitor UBIGINT NOT NULL, country VARCHAR, region VARCHAR, city VARCHAR,
    continent VARCHAR, device VARCHAR, browser VARCHAR, os VARCHAR, referrer VARCHAR, referrer_url VARCHAR,
    utm_source VARCHAR, utm_medium VARCHAR, utm_campaign VARCHAR, utm_term VARCHAR, utm_content VARCHAR,
    unknown_slug VARCHAR)`,
  'CREATE TABLE IF NOT EXISTS marks (node VARCHAR NOT NULL, batch BIGINT NOT NULL)',
]
const OLD_HITS = `INSERT INTO hits SELECT 'a', n, n, 1, n % 5, 'redirect', 'human', 'link', n, 'DE', NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM range(40) AS numbers(n)`

quick('a file of the first layout keeps its hits and marks, loads more, and is sorted', async () => {
  await run(...LAYOUT_1, OLD_HITS, "INSERT INTO marks VALUES ('a', 7)")
  for (let opening = 0; opening < 2; opening++) {
    const engine = await openDuckDb({ path, batchDir: directory, runHits: 10 })
    expect([await clicks(engine), await engine.mark('a')]).toEqual([40 + 2 * opening, 7 + opening])
    await engine.load(batch(8 + opening, 2))
    await engine.sorted()
    expect([await clicks(engine), await engine.mark('a')]).toEqual([42 + 2 * opening, 8 + opening])
    await engine.close()
  }
  expect(readdirSync(directory).filter((name) => name.includes('corrupt'))).toEqual([])
})

test('keeps the hits that a file of the first layout has only in its log', async () => {
  const script = `
    import { DuckDBInstance } from '@duckdb/node-api'
    const connection = await (await DuckDBInstance.create(${JSON.stringify(path)})).connect()
    for (const statement of ${JSON.stringify([...LAYOUT_1, 'CHECKPOINT', OLD_HITS])}) await connection.run(statement)
    process.kill(process.pid, 'SIGKILL')`
  await Bun.spawn([process.execPath, '-e', script], { cwd: import.meta.dir }).exited
  const engine = await openDuckDb({ path })
  expect(await clicks(engine)).toBe(40)
  await engine.close()
})

test('a file of a newer release is rejected and stays as it is', async () => {
  const engine = await openDuckDb({ path, batchDir: directory })
  await engine.load(batch(1, 3))
  await engine.close()
  await run('UPDATE layout SET version = 99')
  await expect(openDuckDb({ path })).rejects.toThrow('layout 99 of a newer version')
  expect(readdirSync(directory).sort()).toEqual(['1.ndjson', 'hits.duckdb'])
  await run('UPDATE layout SET version = 2')
  const again = await openDuckDb({ path })
  expect(await clicks(again)).toBe(3)
  await again.close()
})

/** Rows as layout 2 stored them: nulls as nulls, and no URL when it says no more than its referrer. */
const LAYOUT_2 = [
  ...LAYOUT_1.slice(1),
  ...['hits_arrived', 'hits_sorted'].map((table) => LAYOUT_1[0]?.replace('hits', table) as string),
  `CREATE VIEW hits AS SELECT * FROM hits_arrived UNION ALL SELECT * REPLACE (
     nullif(coalesce(referrer_url, 'https://' || referrer || '/'), chr(0)) AS referrer_url) FROM hits_sorted`,
  'CREATE TABLE layout (version BIGINT NOT NULL)',
  'INSERT INTO layout VALUES (2)',
]

test('a file of the second layout gives the same answers about hits sorted before and after the migration', async () => {
  const of = [
    { referrer: null, referrerUrl: null, utmSource: null },
    { referrer: 'a.example', referrerUrl: 'https://a.example/', utmSource: 'mail' },
    { referrer: 'b.example', referrerUrl: 'https://b.example/x', utmSource: null },
    { referrer: 'c.example', referrerUrl: null, utmSource: 'Unknown' },
  ]
  const kept = [
    'NULL, NULL, NULL',
    "'a.example', NULL, 'mail'",
    "'b.example', 'https://b.example/x', NULL",
    "'c.example', chr(0), 'Unknown'",
  ]
  const at = Date.parse('2026-06-10T12:00:00Z')
  await run(
    ...LAYOUT_2,
    ...kept.map(
      (
        values,
        n,
      ) => `INSERT INTO hits_sorted (node, id, recorded_at, workspace_id, link_id, outcome, class, trigger,
        visitor, referrer, referrer_url, utm_source) VALUES ('a', ${n}, ${at}, 1, 1, 'redirect', 'human', 'link', ${1 + n}, ${values})`,
    ),
  )
  const engine = await openDuckDb({ path, batchDir: directory, runHits: 1 })
  const file = join(directory, '1.ndjson')
  writeFileSync(
    file,
    of.map((each) => `${JSON.stringify(createHit({ ...each, at, visitor: '77' }))}\n`).join(''),
  )
  await engine.load({ node: 'a', number: 1, path: file })
  await engine.sorted()
  const top = async (by: 'referrer' | 'referrerUrl' | 'utmSource', limit: number) =>
    (await engine.ask(createHitQuery({ groupBy: { by, limit, nullAs: 'Unknown' } }))).map(Object.values)
  for (const limit of [10, 100]) {
    expect(await top('referrer', limit)).toEqual([
      ['Unknown', 2, 2],
      ['a.example', 2, 2],
      ['b.example', 2, 2],
      ['c.example', 2, 2],
    ])
    expect(await top('referrerUrl', limit)).toEqual([
      ['Unknown', 4, 3],
      ['https://a.example/', 2, 2],
      ['https://b.example/x', 2, 2],
    ])
    expect(await top('utmSource', limit)).toEqual([
      ['Unknown', 6, 4],
      ['mail', 2, 2],
    ])
  }
  await engine.close()
})

quick('a file of the third layout keeps its hits in both tables, and takes imported ones', async () => {
  const tables = LAYOUT_2.slice(0, -3)
  const insert = OLD_HITS.replace('range(40)', 'range(1, 41)')
  await run(
    ...tables,
    insert.replace('INTO hits', 'INTO hits_arrived'),
    insert.replace('INTO hits', 'INTO hits_sorted'),
    'CREATE VIEW hits AS SELECT * FROM hits_arrived UNION ALL SELECT * FROM hits_sorted',
    'CREATE TABLE layout (version BIGINT NOT NULL)',
    'INSERT INTO layout VALUES (3)',
  )
  const engine = await openDuckDb({ path, batchDir: directory, runHits: 10 })
  const file = join(directory, '1.ndjson')
  writeFileSync(file, `${JSON.stringify(createHit({ importId: 3 }))}\n`)
  await engine.load({ node: 'a', number: 1, path: file })
  await engine.sorted()
  const ask = async (imported?: boolean) => (await engine.ask(createHitQuery({ imported })))[0]?.clicks
  expect([await ask(), await ask(true), await ask(false)]).toEqual([81, 1, 80])
  await engine.close()
})

test.each([
  ['today', 0, []],
  ['today, where hits of the future are stored', 0, [Date.UTC(2120, 0, 1)]],
  ['two days ago', 2, []],
])(
  'a visitor who came before the upgrade and comes again on the same day is one visitor: %s',
  async (_, daysAgo, others) => {
    const tables = LAYOUT_2.slice(0, -3)
    const day = (Math.floor(Date.now() / DAY_MS) - daysAgo) * DAY_MS
    const insert = OLD_HITS.replace('range(40)', 'range(1, 41)').replace('INTO hits', 'INTO hits_arrived')
    await run(
      ...tables,
      insert,
      `UPDATE hits_arrived SET recorded_at = ${day} + id, visitor = 18446744073709551615, class = 'human', outcome = 'redirect'`,
      ...[Date.now(), ...others].map(
        (at) => `${insert.replace('range(1, 41)', 'range(1)').replace('n, n, 1,', `n, ${at}, 9,`)}`,
      ),
      'CREATE VIEW hits AS SELECT * FROM hits_arrived UNION ALL SELECT * FROM hits_sorted',
      'CREATE TABLE layout (version BIGINT NOT NULL)',
      'INSERT INTO layout VALUES (3)',
    )
    const engine = await openDuckDb({ path, batchDir: directory })
    const file = join(directory, '1.ndjson')
    writeFileSync(file, `${JSON.stringify(createHit({ at: day + 5000, visitor: '18446744073709551615' }))}\n`)
    await engine.load({ node: 'a', number: 1, path: file })
    const query = createHitQuery({ start: day, end: day + DAY_MS })
    expect(await engine.ask(query)).toMatchObject([{ clicks: 41, visitors: 1 }])
    await engine.close()
  },
)

quick('names of an earlier release that are in no list are closed in the background', async () => {
  const named = (n: number, browser: string, os: string, device: string) =>
    `INSERT INTO hits (node, id, recorded_at, workspace_id, link_id, outcome, class, trigger, visitor, browser, os, device)
     VALUES ('a', ${n}, ${n * DAY_MS}, 1, 1, 'redirect', 'human', 'link', ${n}, ${browser}, ${os}, ${device})`
  await run(
    ...LAYOUT_1,
    named(1, "'Jane Doe, 5 Main Street'", "'Android'", "'Mobile'"),
    named(2, "'Chrome'", "'MySystem'", 'NULL'),
    named(3, "'Safari'", "'iOS'", "'Mobile'"),
  )
  const engine = await openDuckDb({ path, batchDir: directory, runHits: 1 })
  const list = async (by: 'browser' | 'os' | 'device') =>
    (await engine.ask(createHitQuery({ groupBy: { by, limit: 9, nullAs: '-' } })))
      .map(({ key }) => key)
      .sort()
  await until(
    'closed names',
    async () => !/Jane|MySystem/.test(`${await list('browser')}${await list('os')}`),
  )
  expect([await list('browser'), await list('os'), await list('device')]).toEqual([
    ['Chrome', 'Other', 'Safari'],
    ['Android', 'Other', 'iOS'],
    ['-', 'Mobile'],
  ])
  await engine.close()
})
