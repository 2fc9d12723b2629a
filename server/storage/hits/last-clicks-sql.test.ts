// Last clicks in DuckDB, compared with a search through all clicks. Each rule is broken once here, to show that this
// comparison finds it.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are parts of sources

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { createHit } from '../../../tests/contracts/hit-engine.ts'
import { findSurvivors, toMutants } from '../../../tests/support/rollups/mutate-source.ts'
import { atScale, full } from '../../../tests/support/suite.ts'
import * as clickReader from './click-reader.ts'
import { duckDbDialect } from './duckdb/dialect.ts'
import { type DuckDbEngine, openDuckDb } from './duckdb/engine.ts'
import { openReadOnly } from './duckdb/open-read-only.ts'
import { runStatement } from './duckdb/query.ts'
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
      outcome: fc.constantFrom(...(['redirect', 'redirect', 'redirect', 'landing', 'expired'] as const)),
      importId: fc.constantFrom(null, null, null, 3),
      visitor: fc.constantFrom(...VISITORS),
      referrer: fc.constantFrom(null, 'search.example'),
      utmSource: fc.constantFrom(null, 'news', ''),
      utmContent: fc.constantFrom(null, 'blue'),
    }),
    { numRuns: atScale({ quick: 100, full: 600, soak: 600 }), seed: 4 },
  )
  .map((part) => createHit(part))

let directory: string
const engines: DuckDbEngine[] = []
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'last-clicks-'))
  const path = join(directory, 'batch.ndjson')
  writeFileSync(path, hits.map((each) => `${JSON.stringify(each)}\n`).join(''))
  const files = [100, 1e6].map((runHits) => {
    return { path: join(directory, `${runHits}.duckdb`), batchDir: directory, runHits }
  })
  for (const options of files) {
    const first = await openDuckDb(options)
    await first.load({ node: 'a', number: 1, path })
    await first.sorted()
    await first.close()
    await ageThirdHits(options.path)
  }
  copyFileSync(join(directory, '100.duckdb'), join(directory, 'copy.duckdb'))
  for (const options of files) engines.push(await openDuckDb(options))
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
        (each) =>
          each.visitor === visitor &&
          each.workspaceId === workspaceId &&
          each.class === 'human' &&
          each.outcome === 'redirect' &&
          each.importId === null,
      )
      .filter((each) => each.at <= at && each.at > at - withinMs)
      .sort((a, b) => b.at - a.at || b.id - a.id)[0]
    if (!before) return null
    const {
      id,
      linkId,
      variant,
      at: clickedAt,
      referrer,
      utmSource,
      utmMedium,
      utmCampaign,
      utmTerm,
      utmContent,
    } = before
    const source = { referrer, utmSource, utmMedium, utmCampaign, utmTerm, utmContent }
    return { id, node: 'a', linkId, variant, at: clickedAt, ...source }
  })
}

const anyQuery: fc.Arbitrary<LastClicksQuery> = fc.record({
  workspaceId: fc.constantFrom(1, 2, 3),
  withinMs: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 3 * DAY })),
  moments: fc.array(fc.record({ visitor: fc.constantFrom(...VISITORS, '3'), at: anyTime(500) }), {
    maxLength: 30,
  }),
})

test('gives each of many moments the answer that it gets alone', async () => {
  await fc.assert(
    fc.asyncProperty(anyQuery, async (query) => {
      for (const engine of engines) expect(await engine.findLastClicks(query)).toEqual(slowly(query))
    }),
    { numRuns: atScale({ quick: 25, full: 150, soak: 150 }) },
  )
})

const FILES = ['last-clicks-sql.ts', 'click-reader.ts']

full(
  'that comparison fails without any one of the rules',
  async () => {
    const instance = await openReadOnly(join(directory, 'copy.duckdb'), directory)
    const connection = await instance.connect()
    const questions = fc.sample(anyQuery, { numRuns: atScale({ quick: 40, full: 150, soak: 150 }), seed: 11 })
    const expectRules = async ({ createClickReader }: typeof clickReader) => {
      const reader = createClickReader(duckDbDialect, (_, statement) => runStatement(connection, statement))
      for (const query of questions) expect(await reader.findLastClicks(query)).toEqual(slowly(query))
    }
    await expectRules(clickReader)
    const mutants = toMutants('last-clicks-sql.ts', [
      ['the workspace', '`workspace_id = ${bind(workspaceId)}`', "'true'"],
      ['clicks of people', "`class = ${bind('human')}`", "'true'"],
      ['redirects', "`outcome = ${bind('redirect')}`", "'true'"],
      ['imports', "'import_id IS NULL'", "'true'"],
      ['the time of each moment', "'recorded_at > since AND recorded_at <= until'", "'true'"],
      ['the end of a span', 'recorded_at > since AND recorded_at <= until', 'recorded_at > since'],
      ['the moment itself', 'AND recorded_at <= until', 'AND recorded_at < until'],
      [
        'the newest of two clicks in a millisecond',
        "  'recorded_at',\n  'id',",
        "  'recorded_at',\n  'link_id',\n  'id',",
      ],
      ['the click of an earlier span', '?? (before === undefined ? null : answers[before])', ''],
      ['that an earlier click is too old', 'click && click.at > until - withinMs ? click : null', 'click'],
      [
        'the order of spans',
        'for (const number of sortByTime(spans)) {\n    const { until',
        'for (const number of spans.keys()) {\n    const { until',
      ],
      ['the visitor of the day', 'toStoredVisitor(visitor, day)', 'toStoredVisitor(visitor, since)'],
      [
        'the days of a span',
        'first <= until && day <= until; day += DAY_MS',
        'first <= until && day <= first; day += DAY_MS',
      ],
      [
        'the first day of a span',
        'Math.floor(first / DAY_MS) * DAY_MS',
        'Math.ceil(first / DAY_MS) * DAY_MS',
      ],
      [
        'hits of earlier releases',
        '[{ visitor, since, until, span }]',
        '[{ visitor, since, until: since, span }]',
      ],
    ])
    expect(await findSurvivors(import.meta.dir, FILES, mutants, expectRules)).toEqual([])
    connection.closeSync()
    instance.closeSync()
  },
  60_000,
)

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

test('asks of a later moment for nothing that an earlier one of the same visitor has asked for', () => {
  const moments = [5_400, 5_000].map((at) => ({ visitor: '7', at }))
  const { params } = toLastClicksSql({ workspaceId: 1, moments, withinMs: 1_000 }, duckDbDialect)
  expect(params.slice(1, 3)).toEqual([
    [5_000, 4_000],
    [5_400, 5_000],
  ])
})

test('binds every value instead of putting it into the statement', () => {
  const moments = [{ visitor: "7'; DROP TABLE hits; --", at: 123_456_789 }]
  const { text } = toLastClicksSql({ workspaceId: 4242, moments, withinMs: 1000 }, duckDbDialect)
  expect(text).not.toMatch(/DROP|123|4242|human|redirect'/)
})
