import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { createHit, createHitQuery } from '../../../tests/contracts/hit-engine.ts'
import { atScale } from '../../../tests/support/scale.ts'
import { ORIGIN_DIMENSIONS } from '../sources/origin-sql.ts'
import { TRAFFIC_CHANNELS, toSource, toTrafficChannel } from '../sources/traffic-channel.ts'
import { duckDbDialect } from './duckdb/dialect.ts'
import { type DuckDbEngine, openDuckDb } from './duckdb/engine.ts'
import { toStoredExpression } from './duckdb/layout.ts'
import { runQuery } from './duckdb/query.ts'
import { HIT_CLASSES, HIT_DIMENSIONS, HIT_OUTCOMES, type Hit } from './hit.ts'
import type { HitAnswer, HitColumn, HitFilter, HitQuery } from './hit-engine.ts'
import { toHitSql } from './hit-sql.ts'
import { mergeShares } from './visitor-shares.ts'

const SPAN = 100_000
/** Few values, so that filters match hits. Some look alike, some look like SQL, one is the name of null. */
const MEDIUMS = [null, '', 'CPC', 'paid_social', 'E-Mail', 'social', 'organic', 'qr', 'paid%']
const VALUES = [null, 'a', 'A', 'b', 'é', '', 'Unknown', "x'--", '😀', 'https://a/']
const COLUMNS: HitColumn[] = ['linkId', 'class', ...HIT_DIMENSIONS, ...ORIGIN_DIMENSIONS]

const pick = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)

/** Known hosts, their subdomains, and hosts that only look like them. */
const anyHost = fc
  .tuple(
    pick(['', '', 'm.', 'a.b.', 'not']),
    pick([
      'facebook.com',
      'fb.com',
      'google.co.uk',
      'mail.google.com',
      'google.com',
      'com.google.android.gm',
      't.co',
    ]),
    pick(['', '', '', '.evil.example']),
  )
  .map((parts) => parts.join(''))
const anyHit: fc.Arbitrary<Hit> = fc
  .record({
    at: fc.integer({ min: 0, max: SPAN }),
    workspaceId: pick([1, 1, 1, 2]),
    // More values than an answer has bits for.
    linkId: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 90 })),
    outcome: pick(['redirect', 'redirect', 'redirect', ...HIT_OUTCOMES]),
    class: pick(HIT_CLASSES),
    trigger: pick(['link', 'qr'] as const),
    visitor: fc.integer({ min: 1, max: 40 }).map(String),
    ...Object.fromEntries(
      HIT_DIMENSIONS.filter((each) => each !== 'trigger').map((each) => [each, pick(VALUES)]),
    ),
    referrer: fc.oneof(pick(VALUES), anyHost),
    utmSource: pick([...VALUES, 'FB', 'Hacker_News', 'google-ads', 'm.facebook.com']),
    utmMedium: pick([...VALUES, ...MEDIUMS]),
  })
  .map((part) => createHit(part as Partial<Hit>))

const anyFilter: fc.Arbitrary<HitFilter> = pick(COLUMNS).chain(
  (column): fc.Arbitrary<HitFilter> =>
    fc.record({
      column: fc.constant(column),
      values: fc.array(
        pick<string | number | null>(
          column === 'linkId'
            ? [1, 2, 3, 4, 5, 6, 7, 8]
            : [...VALUES, 'link', 'human', 'Facebook', 'Gmail', 'facebook.com', ...TRAFFIC_CHANNELS],
        ),
        { maxLength: 4 },
      ),
      negate: fc.boolean(),
    }),
)

const anyQuery: fc.Arbitrary<HitQuery> = fc.record({
  workspaceId: pick([1, 2, 3]),
  start: fc.integer({ min: 0, max: SPAN }),
  end: fc.integer({ min: 0, max: SPAN }),
  classes: fc.subarray([...HIT_CLASSES]),
  outcomes: fc.option(fc.subarray([...HIT_OUTCOMES]), { nil: undefined }),
  filters: fc.array(anyFilter, { maxLength: 3 }),
  groupBy: fc.oneof(
    fc.constant({ by: 'total' as const }),
    fc
      .uniqueArray(
        fc.oneof(
          fc.integer({ min: 1, max: SPAN }),
          fc.integer({ min: 1, max: 9 }).map((n) => n * 10_000),
        ),
        {
          maxLength: 30,
        },
      )
      .map((starts) => ({ by: 'time' as const, starts: [0, ...starts].sort((a, b) => a - b) })),
    fc.record({
      by: pick(COLUMNS),
      limit: pick([1, 2, 3, 5, 8, 62, 63, 1000]),
      nullAs: fc.constant('Unknown'),
    }),
    fc.record({
      by: fc.constant('linkGroup' as const),
      groups: fc.array(
        fc.record({ linkId: fc.integer({ min: 1, max: 8 }), group: pick(['x', 'y', 'Z', 'é']) }),
      ),
      limit: fc.integer({ min: 1, max: 5 }),
    }),
  ),
})

/** Answers the same question from a list, in the simplest way. */
function count(hits: Hit[], asked: HitQuery): HitAnswer[] {
  const { workspaceId, start, end, classes, outcomes = ['redirect'], filters, groupBy } = asked
  const toValue = (each: Hit, column: HitColumn) =>
    column === 'source' ? toSource(each) : column === 'channel' ? toTrafficChannel(each) : each[column]
  const caseless = (column: HitColumn, value: unknown) =>
    ['device', 'browser', 'os'].includes(column) && typeof value === 'string' ? value.toLowerCase() : value
  const passes = (each: Hit, { column, values, negate }: HitFilter) =>
    values.some((value) => caseless(column, value) === caseless(column, toValue(each, column))) !== negate
  const keysOf = (each: Hit): HitAnswer['key'][] => {
    switch (groupBy.by) {
      case 'total':
        return [null]
      case 'time':
        return [groupBy.starts.filter((at) => at <= each.at).at(-1) as number]
      case 'linkGroup':
        return [
          ...new Set(groupBy.groups.filter(({ linkId }) => linkId === each.linkId).map(({ group }) => group)),
        ]
      default:
        return [toValue(each, groupBy.by) ?? groupBy.nullAs]
    }
  }
  const found = new Map<HitAnswer['key'], Hit[]>(groupBy.by === 'total' ? [[null, []]] : [])
  for (const each of hits) {
    if (each.workspaceId !== workspaceId || each.at < start || each.at >= end) continue
    if (!outcomes.includes(each.outcome)) continue
    if (!classes.includes(each.class) || !filters.every((filter) => passes(each, filter))) continue
    for (const key of keysOf(each)) {
      const its = found.get(key)
      if (its) its.push(each)
      else found.set(key, [each])
    }
  }
  const rows = [...found].map(([key, its]) => ({
    key,
    clicks: its.length,
    visitors: new Set(its.map((each) => each.visitor)).size,
  }))
  const byKey = (a: HitAnswer, b: HitAnswer) =>
    typeof a.key === 'number'
      ? a.key - Number(b.key)
      : Buffer.compare(Buffer.from(`${a.key}`), Buffer.from(`${b.key}`))
  if (groupBy.by === 'total' || groupBy.by === 'time') return rows.sort(byKey)
  return rows.sort((a, b) => b.clicks - a.clicks || byKey(a, b)).slice(0, groupBy.limit)
}

describe.each([
  { where: 'as they arrived', runHits: Number.POSITIVE_INFINITY },
  // Hits come in any order of time, so every batch has hits that are older than the runs before it.
  { where: 'sorted but for the last few', runHits: 170 },
])('questions about hits $where', ({ runHits }) => {
  let directory: string
  let engine: DuckDbEngine
  let copy: DuckDBInstance
  const hits = fc.sample(anyHit, { numRuns: 3000, seed: 7 })

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'hits-'))
    engine = await openDuckDb({ path: join(directory, 'hits.duckdb'), runHits, threads: 1 })
    for (let number = 1; number <= 3; number++) {
      const path = join(directory, `${number}`)
      const part = hits.slice((number - 1) * 1000, number * 1000)
      writeFileSync(path, part.map((each) => `${JSON.stringify(each)}\n`).join(''))
      await engine.load({ node: 'a', number, path })
      await engine.sorted()
    }
    await engine.backup(join(directory, 'copy'))
    copy = await DuckDBInstance.create(join(directory, 'copy'), { threads: '1' })
  })
  afterAll(async () => {
    copy.closeSync()
    await engine.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test('get the same answer as a plain count of the list', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery, async (asked) => {
        expect(await engine.ask(asked)).toEqual(count(hits, asked))
      }),
      { numRuns: atScale({ test: 150, soak: 1_000 }) },
    )
  }, 240_000)

  test('get the same source and channel as from the rule', async () => {
    const anyOrigin = fc.record({
      by: pick(ORIGIN_DIMENSIONS),
      limit: pick([2, 8, 1000]),
      nullAs: fc.constant('(direct)'),
    })
    const anyOriginFilter = fc.record({
      column: pick(ORIGIN_DIMENSIONS),
      values: fc.array(
        pick([null, '(direct)', 'Facebook', 'Google', 'Gmail', 'm.facebook.com', ...TRAFFIC_CHANNELS]),
      ),
      negate: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(anyQuery, anyOrigin, fc.option(anyOriginFilter), async (asked, groupBy, filter) => {
        const filters = filter ? [filter] : []
        const query = { ...asked, start: 0, end: SPAN, groupBy, filters }
        expect(await engine.ask(query)).toEqual(count(hits, query))
      }),
      { numRuns: atScale({ test: 20, soak: 1_000 }) },
    )
  }, 240_000)

  test('get the same answer in shares of the visitors', async () => {
    const connection = await copy.connect()
    await fc.assert(
      fc.asyncProperty(anyQuery, fc.integer({ min: 1, max: 4 }), async (asked, of) => {
        const shares = Array.from({ length: of }, (_, number) => runQuery(connection, asked, { of, number }))
        expect(mergeShares((await Promise.all(shares)).flat(), asked)).toEqual(count(hits, asked))
      }),
      { numRuns: atScale({ test: 50, soak: 200 }) },
    )
  }, 240_000)
})

describe('the statements of questions', () => {
  test('never put a value into the text of the statement', () => {
    fc.assert(
      fc.property(anyQuery, fc.string({ minLength: 12 }), (asked, marker) => {
        const filters: HitFilter[] = [{ column: 'city', values: [marker], negate: false }]
        const { text } = toHitSql({ ...asked, filters }, duckDbDialect)
        expect(text).not.toContain(marker)
        const ours = text
          .replaceAll(toStoredExpression('referrer_url').value, 'url')
          .replaceAll(/'[^']*[$]'|[|][|]|nullif[(](\w+), chr[(]0[)][)]/g, 'ours')
          .replace(/::(BIGINT|VARCHAR)/g, '')
        expect(ours).toMatch(/^[a-zA-Z0-9_$,.()<>=*% -]+$/)
      }),
    )
  })

  test('stay short for a year of days', () => {
    const day = 86_400_000
    const starts = Array.from({ length: 366 }, (_, n) => n * day - (n > 90 && n < 300 ? 3_600_000 : 0))
    const { params } = toHitSql(createHitQuery({ groupBy: { by: 'time', starts } }), duckDbDialect)
    expect(params.length).toBeLessThan(25)
  })
})
