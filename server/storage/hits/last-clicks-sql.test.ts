import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { createHit } from '../../../tests/contracts/hit-engine.ts'
import { duckDbDialect } from './duckdb/dialect.ts'
import { type DuckDbEngine, openDuckDb } from './duckdb/engine.ts'
import { HIT_CLASSES, type Hit } from './hit.ts'
import type { LastClick, LastClicksQuery } from './hit-engine.ts'
import { toLastClicksSql } from './last-clicks-sql.ts'

const VISITORS = ['1', '2', '18446744073709551615']
const DAY = 24 * 60 * 60 * 1000
/** On both sides of midnight. */
const STARTS = [0, DAY - 200, 2 * DAY - 200]
const anyTime = (length: number) =>
  fc.tuple(fc.constantFrom(...STARTS), fc.integer({ min: 0, max: length })).map(([start, ms]) => start + ms)

const hits: Hit[] = fc
  .sample(
    fc.record({
      at: anyTime(400),
      workspaceId: fc.constantFrom(1, 1, 2),
      linkId: fc.integer({ min: 1, max: 6 }),
      class: fc.constantFrom('human' as const, 'human' as const, ...HIT_CLASSES),
      visitor: fc.constantFrom(...VISITORS),
      referrer: fc.constantFrom(null, 'search.example'),
      utmSource: fc.constantFrom(null, 'news', ''),
      utmContent: fc.constantFrom(null, 'blue'),
    }),
    { numRuns: 600, seed: 4 },
  )
  .map((part) => createHit(part))

let directory: string
const engines: DuckDbEngine[] = []
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'last-clicks-'))
  const path = join(directory, 'batch.ndjson')
  writeFileSync(path, hits.map((each) => `${JSON.stringify(each)}\n`).join(''))
  for (const runHits of [100, 1e6]) {
    const options = { path: join(directory, `${runHits}.duckdb`), batchDir: directory, runHits }
    const first = await openDuckDb(options)
    await first.load({ node: 'a', number: 1, path })
    await first.sorted()
    await first.close()
    await ageThirdHits(options.path)
    engines.push(await openDuckDb(options))
  }
})
afterAll(async () => {
  for (const engine of engines) await engine.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Gives each third hit the visitor that an earlier release has stored: the whole hash, without the day. */
async function ageThirdHits(path: string) {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  const old = hits.filter((_, index) => index % 3 === 0)
  for (const visitor of VISITORS) {
    const ids = old.filter((each) => each.visitor === visitor).map(({ id }) => id)
    for (const table of ['hits_arrived', 'hits_sorted'])
      await connection.run(`UPDATE ${table} SET visitor = ${visitor} WHERE id IN (${ids.join(', ')})`)
  }
  connection.closeSync()
  instance.closeSync()
}

/** Compares every click with every moment. */
function slowly({ workspaceId, moments, withinMs }: LastClicksQuery): (LastClick | null)[] {
  return moments.map(({ visitor, at }) => {
    const before = hits
      .filter(
        (each) => each.visitor === visitor && each.workspaceId === workspaceId && each.class === 'human',
      )
      .filter((each) => each.at <= at && each.at > at - withinMs)
      .sort((a, b) => b.at - a.at || b.id - a.id)[0]
    if (!before) return null
    const {
      id,
      linkId,
      at: clickedAt,
      referrer,
      utmSource,
      utmMedium,
      utmCampaign,
      utmTerm,
      utmContent,
    } = before
    const source = { referrer, utmSource, utmMedium, utmCampaign, utmTerm, utmContent }
    return { id, node: 'a', linkId, at: clickedAt, ...source }
  })
}

test('gives each of many moments the answer that it gets alone', async () => {
  const anyQuery = fc.record({
    workspaceId: fc.constantFrom(1, 2, 3),
    withinMs: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 3 * DAY })),
    moments: fc.array(fc.record({ visitor: fc.constantFrom(...VISITORS, '3'), at: anyTime(500) }), {
      maxLength: 30,
    }),
  })
  await fc.assert(
    fc.asyncProperty(anyQuery, async (query) => {
      for (const engine of engines) expect(await engine.findLastClicks(query)).toEqual(slowly(query))
    }),
    { numRuns: 150 },
  )
})

test('a visitor that is no number of 64 bits has no click', async () => {
  const moments = ['', '-1', '18446744073709551616', '36893488147419103231', 'x'].map((visitor) => {
    return { visitor, at: 3 * DAY }
  })
  for (const engine of engines)
    expect(await engine.findLastClicks({ workspaceId: 1, moments, withinMs: 3 * DAY })).toEqual(
      moments.map(() => null),
    )
})

test('asks of each day for the visitor of that day alone', () => {
  const moment = { visitor: String(2n ** 50n + 7n), at: DAY + 1_000 }
  const { params } = toLastClicksSql({ workspaceId: 1, moments: [moment], withinMs: 2_000 }, duckDbDialect)
  expect(params.slice(0, 4)).toEqual([
    [moment.visitor, '7', String(2n ** 48n + 7n)],
    [DAY - 1_000, DAY - 1_000, DAY - 1],
    [DAY + 1_000, DAY - 1, DAY + 1_000],
    [0, 0, 0],
  ])
})

test('binds every value instead of putting it into the statement', () => {
  const moments = [{ visitor: "7'; DROP TABLE hits; --", at: 123_456_789 }]
  const { text } = toLastClicksSql({ workspaceId: 4242, moments, withinMs: 1000 }, duckDbDialect)
  expect(text).not.toMatch(/DROP|123|4242|human|redirect'/)
})
