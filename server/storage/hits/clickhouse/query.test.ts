import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import {
  anyHit,
  anyOriginQuery,
  anyQuery,
  countHits,
  pick,
} from '../../../../tests/contracts/hit-questions.ts'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import {
  createNextQuestions,
  createPageQuestions,
} from '../../../../tests/support/hits/analytics-questions.ts'
import { BIGGEST, generateHits } from '../../../../tests/support/hits/generate-hits.ts'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { atScale, full, quick } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { openDuckDb } from '../duckdb/engine.ts'
import { HIT_CLASSES, type Hit } from '../hit.ts'
import type { HitEngine, HitFilter, HitQuery, LastClicksQuery } from '../hit-engine.ts'
import { toHitSql } from '../hit-sql.ts'
import { toLastClicksSql } from '../last-clicks-sql.ts'
import { ClickHouseError } from './clickhouse-error.ts'
import { type ClickHouseClient, createClickHouseClient } from './client.ts'
import { clickHouseDialect } from './dialect.ts'
import { openClickHouse } from './engine.ts'
import { createQuestionRunner, QUESTION_SETTINGS } from './query.ts'

let server: ClickHouseServer
let directory: string
beforeAll(async () => {
  server = await getClickHouse()
  directory = mkdtempSync(join(tmpdir(), 'clickhouse-query-'))
}, CLICKHOUSE_START_MS)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

interface Pair {
  url: string
  engines: HitEngine[]
  clickHouse: HitEngine
  duckDb: HitEngine
}

/** Both engines with the same hits. */
async function openPair(batches: string[]): Promise<Pair> {
  const dir = mkdtempSync(join(directory, 'pair-'))
  const url = await server.takeDatabase()
  const clickHouse = await openClickHouse({ urls: [url], scratchDir: dir })
  const duckDb = await openDuckDb({ path: join(dir, 'hits.duckdb'), threads: 1 })
  const path = join(dir, 'batch')
  for (const [index, lines] of batches.entries()) {
    writeFileSync(path, lines)
    const batch = { node: 'a', number: index + 1, path }
    await clickHouse.load(batch)
    await duckDb.load(batch)
  }
  return { url, engines: [clickHouse, duckDb], clickHouse, duckDb }
}
const toLines = (hits: Hit[]) => hits.map((each) => `${JSON.stringify(each)}\n`).join('')
const closePair = (pair: Pair | undefined) => Promise.all(pair?.engines.map((each) => each.close()) ?? [])

/** Visitors are numbers of 64 bits, and the largest have no exact place in a number of JavaScript. */
const VISITORS = [
  '0',
  '1',
  '9007199254740993',
  '9223372036854775808',
  '18446744073709551614',
  '18446744073709551615',
]
const HOSTILE = [
  "it's",
  '\\',
  "\\'",
  '\\N',
  'NULL',
  '\t',
  'a\nb\r\nc',
  "'); DROP TABLE hits; --",
  '{p1:String}',
  'paid_',
  '%',
  '_',
  '[^.]+',
  '😀😀',
  '\u202Ex',
  'ﬁ',
  'Straße',
]

quick.describe('questions about random hits', () => {
  let pair: Pair
  const anyStrangeHit = fc
    .tuple(anyHit, pick(VISITORS), fc.option(pick(HOSTILE), { freq: 2, nil: undefined }))
    .map(([hit, visitor, text]) => ({
      ...hit,
      visitor: Number(hit.visitor) % 3 === 0 ? visitor : hit.visitor,
      ...(text !== undefined && {
        city: text,
        browser: text,
        utmTerm: text,
        referrer: text,
        utmSource: text,
      }),
    }))
  const hits = fc.sample(anyStrangeHit, {
    numRuns: atScale({ quick: 900, full: 3_000, soak: 3_000 }),
    seed: 11,
  })

  beforeAll(async () => {
    pair = await openPair([0, 1, 2].map((n) => toLines(hits.filter((_, index) => index % 3 === n))))
  }, CLICKHOUSE_START_MS)
  afterAll(() => closePair(pair))

  quick(
    'get the same answer as from DuckDB and from a plain count of the list',
    async () => {
      await fc.assert(
        fc.asyncProperty(anyQuery, async (asked) => {
          const [ours, theirs] = await Promise.all(pair.engines.map((engine) => engine.ask(asked)))
          expect(ours).toEqual(theirs as never)
          expect(ours).toEqual(countHits(hits, asked))
        }),
        { numRuns: atScale({ quick: 30, full: 180, soak: 2_000 }) },
      )
    },
    600_000,
  )

  test('get the same source and channel as from the rule', async () => {
    await fc.assert(
      fc.asyncProperty(anyOriginQuery, async (asked) => {
        expect(await pair.clickHouse.ask(asked)).toEqual(countHits(hits, asked))
      }),
      { numRuns: atScale({ quick: 6, full: 30, soak: 1_000 }) },
    )
  }, 600_000)

  test('get the same answer for hostile values, and for lists of any length', async () => {
    const anyValue = fc.oneof(
      pick<string | null>([...HOSTILE, null, 'Unknown', '']),
      fc.string({ unit: 'binary' }),
    )
    const anyFilter = fc.record({
      column: pick(['city', 'browser', 'utmTerm', 'source', 'referrer'] as const),
      values: fc.oneof(
        fc.array(anyValue, { maxLength: 8 }),
        fc.array(anyValue, { minLength: 9, maxLength: 30 }),
        fc
          .array(anyValue, { minLength: 1, maxLength: 3 })
          .map((few) => [...few, ...Array.from({ length: 3_000 }, (_, n) => `it's \\${n}`)]),
      ),
      negate: fc.boolean(),
    })
    const anyStrangeQuery = fc
      .tuple(anyQuery, fc.array(anyFilter, { minLength: 1, maxLength: 2 }))
      .map(([asked, filters]): HitQuery => ({ ...asked, start: 0, end: 2 ** 40, workspaceId: 1, filters }))
    await fc.assert(
      fc.asyncProperty(anyStrangeQuery, async (asked) => {
        expect(await pair.clickHouse.ask(asked)).toEqual(await pair.duckDb.ask(asked))
      }),
      { numRuns: atScale({ quick: 8, full: 40, soak: 600 }) },
    )
  }, 600_000)

  test('get the same answer with 30,000 links', async () => {
    const links = Array.from({ length: 30_000 }, (_, n) => n + 3)
    const groups = links.map((linkId) => ({ linkId, group: `g'${linkId % 7}` }))
    const queries: HitQuery[] = [
      createHitQuery({ filters: [{ column: 'linkId', values: links, negate: false }] }),
      createHitQuery({ filters: [{ column: 'linkId', values: links, negate: true }] }),
      createHitQuery({ groupBy: { by: 'linkGroup', groups, limit: 5 } }),
    ]
    for (const asked of queries) expect(await pair.clickHouse.ask(asked)).toEqual(countHits(hits, asked))
  })

  test('get the same answer in shares of the visitors', async () => {
    const client = createClickHouseClient([pair.url])
    await fc.assert(
      fc.asyncProperty(anyQuery, async (asked) => {
        let calls = 0
        const short: Pick<ClickHouseClient, 'select'> = {
          // As from a server whose memory is full, until the question is in shares.
          select: (sql, call) =>
            calls++ < 2
              ? Promise.reject(new ClickHouseError('Memory limit exceeded', { code: 241 }))
              : client.select(sql, call),
        }
        expect(await createQuestionRunner(short).ask(asked)).toEqual(countHits(hits, asked))
        expect(calls).toBe(2 + 8)
      }),
      { numRuns: atScale({ quick: 2, full: 10, soak: 200 }) },
    )
    await client.close()
  }, 600_000)
})

quick.describe('questions over days of many lengths', () => {
  const ZONES = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'Africa/Casablanca',
    'Pacific/Apia',
  ]
  const FIRST = Date.UTC(2026, 0, 1)
  const DAY = 86_400_000

  const startsOf = (zone: string, unit: 'day' | 'week' | 'month', from: number, count: number) => {
    const first = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(zone).startOfDay()
    return Array.from(
      { length: count },
      (_, n) => first.add({ [`${unit}s`]: n }).startOfDay().epochMilliseconds,
    )
  }

  let pair: Pair
  /** A hit at the first and last millisecond of every day in every zone. */
  const hits = ZONES.flatMap((zone) => startsOf(zone, 'day', FIRST, 366)).flatMap((start, index) =>
    [start - 1, start, start + 3_600_000].map((at) => createHit({ at, visitor: String(index % 50) })),
  )
  beforeAll(async () => {
    pair = await openPair([toLines(hits)])
  }, CLICKHOUSE_START_MS)
  afterAll(() => closePair(pair))

  test('get the same answer as from DuckDB and from a plain count of the list', async () => {
    const anyTimeline = fc
      .record({
        zone: pick(ZONES),
        unit: pick(['day', 'week', 'month'] as const),
        from: fc.integer({ min: 0, max: 300 }).map((day) => FIRST + day * DAY),
        count: fc.integer({ min: 1, max: 380 }),
      })
      .map(({ zone, unit, from, count }) => {
        const starts = startsOf(zone, unit, from, count)
        return createHitQuery({ start: starts[0] as number, groupBy: { by: 'time', starts } })
      })
    await fc.assert(
      fc.asyncProperty(anyTimeline, async (asked) => {
        const [ours, theirs] = await Promise.all(pair.engines.map((engine) => engine.ask(asked)))
        expect(ours).toEqual(theirs as never)
        expect(ours).toEqual(countHits(hits, asked))
      }),
      { numRuns: atScale({ quick: 5, full: 20, soak: 400 }) },
    )
  }, 600_000)
})

full(
  'every question of the dashboard gets the same answer as from DuckDB',
  async () => {
    const pair = await openPair(Array.from(generateHits({ hits: 10_000 }), ({ lines }) => lines))
    const questions = [...createPageQuestions(BIGGEST), ...createNextQuestions(BIGGEST)]
    expect(questions.length).toBeGreaterThan(25)
    for (const { query } of questions)
      expect(await pair.clickHouse.ask(query)).toEqual(await pair.duckDb.ask(query))
    await closePair(pair)
  },
  240_000,
)

test('500 moments get the same last clicks as from DuckDB', async () => {
  const anyClick = fc
    .record({
      at: fc.integer({ min: 0, max: 3_000 }),
      workspaceId: pick([1, 1, 1, 2]),
      linkId: fc.integer({ min: 1, max: 6 }),
      class: pick(['human', 'human', ...HIT_CLASSES] as const),
      outcome: pick(['redirect', 'redirect', 'landing'] as const),
      visitor: pick([...VISITORS, '2', '3']),
      referrer: pick([null, '', 'search.example', ...HOSTILE]),
      utmContent: pick([null, 'blue']),
    })
    .map((part) => createHit(part))
  const pair = await openPair([toLines(fc.sample(anyClick, { numRuns: 2_000, seed: 5 }))])
  const anyLastClicks: fc.Arbitrary<LastClicksQuery> = fc.record({
    workspaceId: pick([1, 1, 2, 3]),
    withinMs: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 4_000 })),
    moments: fc.oneof(
      ...[{ minLength: 500, maxLength: 500 }, { maxLength: 4 }].map((lengths) =>
        fc.array(
          fc.record({ visitor: pick([...VISITORS, '2', '3', '4']), at: fc.integer({ min: 0, max: 3_500 }) }),
          lengths,
        ),
      ),
    ),
  })
  // Without it, the random questions find too few clicks once in some thousand runs.
  const moments = VISITORS.flatMap((visitor) =>
    Array.from({ length: 100 }, (_, n) => ({ visitor, at: n * 30 })),
  )
  let found = 0
  await fc.assert(
    fc.asyncProperty(anyLastClicks, async (query) => {
      const answers = await pair.clickHouse.findLastClicks(query)
      expect(answers).toEqual(await pair.duckDb.findLastClicks(query))
      found += answers.filter((each) => each !== null).length
    }),
    {
      numRuns: atScale({ quick: 3, full: 25, soak: 500 }),
      examples: [[{ workspaceId: 1, withinMs: 4_000, moments }]],
    },
  )
  expect(found).toBeGreaterThan(500)
  await closePair(pair)
}, 600_000)

test('last clicks are found among those that an earlier release has stored', async () => {
  const midnight = Date.UTC(2026, 5, 11)
  const visitor = '18446744073709551615'
  const pair = await openPair([
    toLines([
      createHit({ id: 1, visitor, at: midnight + 300 }),
      createHit({ id: 2, visitor: '8', at: midnight + 400 }),
    ]),
  ])
  // Such rows have the whole hash, without the day.
  await server.query(
    `INSERT INTO hits (node, id, recorded_at, workspace_id, link_id, outcome, class, trigger, visitor)
     SELECT 'a', 10 + number, ${midnight} + (number - 1) * 200, 1, 1, 'redirect', 'human', 'link', ${visitor} FROM numbers(3)`,
    new URL(pair.url).pathname.slice(1),
  )
  const moments = [-201, -200, -1, 0, 200, 299, 300, 1_000].map((after) => ({
    visitor,
    at: midnight + after,
  }))
  const found = await pair.clickHouse.findLastClicks({ workspaceId: 1, moments, withinMs: 600 })
  expect(found.map((click) => click?.id)).toEqual([undefined, 10, 10, 11, 12, 12, 1, undefined])
  await closePair(pair)
}, 240_000)

full(
  'counts visitors that do not fit into memory in shares, exactly',
  async () => {
    const hits = Array.from({ length: 150_000 }, (_, n) =>
      createHit({ utmTerm: `term ${n % 1_000}`, visitor: String(2n ** 63n + BigInt(n)) }),
    )
    const url = await server.takeDatabase()
    const engine = await openClickHouse({ urls: [url], scratchDir: directory })
    const path = join(directory, 'many')
    writeFileSync(path, toLines(hits))
    await engine.load({ node: 'a', number: 1, path })
    const client = createClickHouseClient([url])
    const settings = {
      ...QUESTION_SETTINGS,
      max_threads: 1,
      max_memory_usage: 6_000_000,
      max_bytes_ratio_before_external_group_by: 0,
    }
    let calls = 0
    const runner = createQuestionRunner(
      { select: (sql, call) => client.select(sql, call).finally(() => calls++) },
      settings,
    )
    const answer = await runner.ask(createHitQuery({ groupBy: { by: 'utmTerm', limit: 1_000, nullAs: '' } }))
    expect(calls).toBeGreaterThan(8)
    expect(answer).toHaveLength(1_000)
    expect(answer.every(({ clicks, visitors }) => clicks === 150 && visitors === 150)).toBe(true)
    await client.close()
    await engine.close()
  },
  240_000,
)

test('a question that takes too much fails alone', async () => {
  const pair = await openPair([toLines([createHit()])])
  const client = createClickHouseClient([pair.url])
  const strict = createQuestionRunner(client, { ...QUESTION_SETTINGS, max_columns_to_read: 1 })
  const normal = createQuestionRunner(client)
  const [failed, other] = await Promise.allSettled([
    strict.ask(createHitQuery()),
    normal.ask(createHitQuery()),
  ])
  expect(failed).toMatchObject({ status: 'rejected', reason: { name: 'ClickHouseError' } })
  expect(other).toMatchObject({ status: 'fulfilled', value: [{ clicks: 1 }] })
  await client.close()
  await closePair(pair)
})

test('a question is unavailable while the server is away, and while it refuses the password', async () => {
  const away = createClickHouseClient([`http://127.0.0.1:${findFreePort()}/default`])
  const stranger = createClickHouseClient([server.url.replace(/:[^:@]+@/, ':wrong@')])
  for (const client of [away, stranger]) {
    const runner = createQuestionRunner(client)
    const failure = { code: 'unavailable', detail: { retryAfter: 5 } }
    await expect(runner.ask(createHitQuery())).rejects.toMatchObject(failure)
    const moments = [{ visitor: '1', at: 1 }]
    await expect(runner.findLastClicks({ workspaceId: 1, moments, withinMs: 1 })).rejects.toMatchObject(
      failure,
    )
    await client.close()
  }
})

test('a workspace has four questions at a server at once, and the others need not wait for it', async () => {
  const asked: number[] = []
  const waiting: (() => void)[] = []
  const listener = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      asked.push(Number(new URL(request.url).searchParams.get('param_p1')))
      await new Promise<void>((resolve) => waiting.push(resolve))
      return new Response('[null, 1, 1]\n')
    },
  })
  const client = createClickHouseClient([`http://127.0.0.1:${listener.port}/default`])
  const runner = createQuestionRunner({ select: client.select })
  const running = [1, 1, 1, 1, 1, 1, 2].map((workspaceId) => runner.ask(createHitQuery({ workspaceId })))
  await until('five questions', () => asked.length === 5)
  expect(asked.sort()).toEqual([1, 1, 1, 1, 2])
  for (let answered = 0; answered < running.length; answered++) {
    await until('the next question', () => waiting.length > answered)
    waiting[answered]?.()
  }
  expect((await Promise.all(running)).flat()).toHaveLength(7)
  expect(asked).toHaveLength(7)
  await client.close()
  await listener.stop(true)
})

test('an answer says that it was counted from hits, and on which days there are none', async () => {
  const day = (text: string) => Date.parse(`${text}T00:00:00Z`)
  const range = { start: day('2026-04-30'), end: day('2026-05-05') }
  const noHits = { ...range, from: 'hits' as const, why: 'no_hits' as const }
  const ask = async (hits: Hit[]) => {
    const pair = await openPair(hits.length > 0 ? [toLines(hits)] : [])
    const { origin } = await pair.clickHouse.explain(createHitQuery({ workspaceId: 1, ...range }))
    await closePair(pair)
    return origin
  }
  expect(await ask([])).toEqual([noHits])
  // The hits of all workspaces count.
  const hits = [day('2026-05-01') + 1, day('2026-05-03') - 1].map((at) => createHit({ at, workspaceId: 2 }))
  expect(await ask(hits)).toEqual([
    { ...noHits, end: day('2026-05-01') },
    { start: day('2026-05-01'), end: day('2026-05-03'), from: 'hits', why: 'engine' },
    { ...noHits, start: day('2026-05-03') },
  ])
})

test('no value is in the text of a statement', () => {
  fc.assert(
    fc.property(anyQuery, fc.string({ minLength: 12 }), (asked, marker) => {
      const filters = (['city', 'source', 'browser'] as const).map(
        (column) => ({ column, values: [marker], negate: false }) as HitFilter,
      )
      const { text } = toHitSql({ ...asked, filters: [...asked.filters, ...filters] }, clickHouseDialect)
      expect(text).not.toContain(marker)
      const ours = text
        .replaceAll(/'[^']*[$]'|'Nullable[(]String[)]'/g, 'ours')
        .replaceAll(/[{]p\d+(_\d+)?:(Int64|String|Array[(](Int64|String)[)])[}]/g, 'bound')
      expect(ours).toMatch(/^[a-zA-Z0-9_.,()<>=*/+% -]+$/)
    }),
  )
  const moments = [{ visitor: "7'; DROP TABLE hits; --", at: 123_456_789 }]
  const { text } = toLastClicksSql({ workspaceId: 4242, moments, withinMs: 1000 }, clickHouseDialect)
  expect(text).not.toMatch(/DROP|123|4242|human|redirect'/)
})
