// Limits that processes share in PostgreSQL: against the limits in memory, and while PostgreSQL is away.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { atScale } from '../../../../tests/support/suite.ts'
import { until } from '../../../../tests/support/until.ts'
import { startServer, type TestServer } from '../../../../tests/support/world.ts'
import { createSlidingBudgets, SLICES } from '../../../lib/sliding-budget.ts'
import { createSlidingWindows, type WindowResult } from '../../../lib/sliding-window.ts'
import { type DatabaseHandle, openDatabase } from '../../../storage/database/open-database.ts'
import { openPostgresMigrator } from '../../../storage/database/postgres.ts'
import { createRateLimiter, pruneRateWindows } from './rate-limiter.ts'
import { createRoughLimiter, SHARE } from './rough-limit.ts'
import { countShared, refundShared, takeShared } from './shared-limit.ts'

let server: TestServer
let second: DatabaseHandle
beforeAll(async () => {
  server = await startServer('postgres')
  second = await openDatabase({ dataDir: server.dataDir, databaseUrl: server.databaseUrl })
}, 120_000)
afterAll(async () => {
  await second.close()
  await server.close()
})

const SECOND = 1000
const DAYS = 86_400 * SECOND
/** Older than all that a test puts into a window. */
const AGE_MAX = DAYS

type Step = { pass: number } | { limit: number } | 'refund' | 'count' | 'age'

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ limit: fc.constantFrom(1, 3, 5) }) },
    {
      weight: 3,
      arbitrary: fc.record({ pass: fc.constantFrom(5 * SECOND, 20 * SECOND, 60 * SECOND, 13 * DAYS) }),
    },
    { weight: 1, arbitrary: fc.constantFrom<Step>('refund', 'count', 'age') },
  ),
  { minLength: 3, maxLength: 25 },
)

/** Makes the row look as if it had been in use for 13 days: the same times, counted from an older moment. */
const ageRow = (key: string) =>
  sql`update rate_limits set since = since - ${13 * DAYS}::bigint,
      hits = (select coalesce(array_agg(hit + ${13 * DAYS}::int order by hit), '{}') from unnest(hits) as hit)
    where key = ${key} and since > ${server.now() - 10 * DAYS}::bigint`.execute(server.app.db.read)

test('decide as the limits in memory do, also after weeks in the same row', async () => {
  let key = 0
  await fc.assert(
    fc.asyncProperty(steps, async (run: Step[]) => {
      let clock = 0
      const memory = createSlidingWindows({ clock: () => clock })
      const name = `same ${key++}`
      for (const step of run) {
        if (step === 'refund') {
          memory.refund(name)
          await refundShared(server.app.db, name)
        } else if (step === 'age') {
          await ageRow(name)
        } else if (step === 'count') {
          expect(await countShared(server.app.db, name)).toBe(memory.count(name))
        } else if ('pass' in step) {
          clock += step.pass
          // The database's clock cannot be set: the row grows older instead.
          await sql`update rate_limits set since = since - ${step.pass}::bigint where key = ${name}`.execute(
            server.app.db.read,
          )
        } else {
          const expected = memory.take(name, step.limit)
          const call = { key: name, limit: step.limit }
          const [found] = (await takeShared(server.app.db, [call])) as [WindowResult]
          expect([found.allowed, found.remaining]).toEqual([expected.allowed, expected.remaining])
          // The database's clock runs on while the test's stands.
          expect(expected.waitMs - found.waitMs).toBeWithin(-1, 4 * SECOND)
          expect(expected.resetMs - found.resetMs).toBeWithin(-1, 4 * SECOND)
        }
      }
    }),
    { numRuns: atScale({ quick: 10, full: 40, soak: 40 }) },
  )
})

describe('a rough limit', () => {
  test('is off by at most a share for each process, and takes one statement in thirty', async () => {
    const budgets = createSlidingBudgets({ windowMs: 60 * SECOND })
    let statements = 0
    const processes = Array.from({ length: 3 }, () =>
      createRoughLimiter(async (key, count, limit) => {
        statements++
        return budgets.spend(key, count, limit)
      }),
    )
    const taken = await Promise.all(
      Array.from({ length: 3000 }, (_, i) => processes[i % 3]?.('person', 1200)),
    )
    const allowed = taken.filter((one) => one?.allowed).length
    expect(allowed).toBeWithin(1200 - 3 * SHARE, 1201)
    expect(statements).toBeLessThanOrEqual(1200 / SHARE + 3)
    for (const refused of taken.filter((one) => !one?.allowed)) expect(refused?.waitMs).toBeGreaterThan(0)
  })

  test('forgets a share after the window', async () => {
    let clock = 0
    let shares = 0
    const take = createRoughLimiter(
      async () => ({ allowed: ++shares <= 2, waitMs: 5 * SECOND }),
      () => clock,
    )
    expect(await take('person', 600)).toEqual({ allowed: true, waitMs: 0 })
    clock += 59 * SECOND
    await take('person', 600)
    expect(shares).toBe(1)
    clock += SECOND
    await take('person', 600)
    expect(shares).toBe(2)
    clock += 60 * SECOND
    for (let i = 0; i < 3; i++)
      expect(await take('person', 600)).toEqual({ allowed: false, waitMs: 5 * SECOND })
    expect(shares).toBe(3)
    clock += SECOND
    await take('person', 600)
    expect(shares).toBe(4)
  })

  test('is shared by processes', async () => {
    const limiters = [createRateLimiter(server.app.db), createRateLimiter(second)]
    const taken = await Promise.all(
      Array.from({ length: 400 }, (_, i) => limiters[i % 2]?.takeRoughly('somebody', 300)),
    )
    expect(taken.filter((one) => one?.allowed).length).toBeWithin(300 - 2 * SHARE, 301)
  })
})

test('a password of a link may be guessed five times a minute at all processes together', async () => {
  const workspace = await server.createWorkspace()
  const { id, slug } = await workspace.createLink({ password: 'secret' })
  const elsewhere = createRateLimiter(second, { secret: server.app.paths.secret })
  const guess = () =>
    server.post(`/${slug}`, 'password=wrong', { 'Content-Type': 'application/x-www-form-urlencoded' })
  for (let i = 0; i < 2; i++) expect((await guess()).status).toBe(403)
  const keys = await server.rows('rate_limits')
  expect(JSON.stringify(keys)).not.toContain(`link ${id}`)
  for (let i = 0; i < 3; i++)
    expect((await elsewhere.take(`password of link ${id}:127.0.0.1`, 5)).allowed).toBeTrue()
  expect((await guess()).status).toBe(429)
})

describe('processes that share a PostgreSQL', () => {
  test('share exactly N under 200 concurrent requests', async () => {
    {
      const limiters = [createRateLimiter(server.app.db), createRateLimiter(second)]
      for (const limit of [30, 120]) {
        const taken = await Promise.all(
          Array.from({ length: 200 }, (_, i) => limiters[i % 2]?.take(`shared:${limit}`, limit)),
        )
        expect(taken.filter((one) => one?.allowed)).toHaveLength(limit)
        const left = taken.filter((one) => one?.allowed).map((one) => one?.remaining ?? -1)
        // Each number once: no two requests got the same count.
        expect(left.sort((a, b) => a - b)).toEqual(Array.from({ length: limit }, (_, i) => i))
        for (const one of taken.filter((each) => !each?.allowed)) {
          expect(one?.waitMs).toBeGreaterThan(30_000)
          expect(one?.waitMs).toBeLessThanOrEqual(60_000)
        }
      }
    }
  })

  const setWindow = (key: string, agesMs: number[]) =>
    server.insert('rate_limits', {
      key,
      since: server.now() - AGE_MAX,
      hits: agesMs.map((age) => AGE_MAX - age),
      allowed: 1,
      expires_at: 0,
    })
  /** The expected wait, less the time since `since`, with a second of tolerance for rounding. */
  const expectWait = (ms: number, atFirst: number, since: number) =>
    expect(ms).toBeWithin(atFirst - (server.now() - since) - 1_000, atFirst + 1_000)
  const take = (key: string, limit: number) => createRateLimiter(server.app.db).take(key, limit)

  test('drop requests older than a minute', async () => {
    const since = server.now()
    await setWindow('old', [61_000, 60_001, 50_000, 10_000])
    expect(await take('old', 3)).toMatchObject({ allowed: true, remaining: 0 })
    const refused = await take('old', 3)
    expect(refused.allowed).toBe(false)
    expectWait(refused.waitMs, 10_000, since)
    expect(refused.resetMs).toBe(refused.waitMs)
  })

  test('wait after a lowered limit until enough requests have left the window', async () => {
    const since = server.now()
    await setWindow('lower', [50_000, 40_000, 30_000, 20_000])
    const { allowed, remaining, waitMs, resetMs } = await take('lower', 2)
    expect([allowed, remaining]).toEqual([false, 0])
    expectWait(waitMs, 30_000, since)
    expectWait(resetMs, 10_000, since)
  })

  test('lock nobody out after the database’s clock was set back', async () => {
    await setWindow('future', Array(30).fill(-7_200_000))
    expect(await take('future', 30)).toMatchObject({ allowed: true, remaining: 29 })
  })

  test('store no client address in plain text', async () => {
    const address = '203.0.113.77'
    await createRateLimiter(server.app.db, { secret: 'a secret' }).take(`form:1:${address}`, 5)
    const kept = await server.rows('rate_limits')
    expect(JSON.stringify(kept)).not.toContain(address)
  })

  test('prune windows that were not used for a minute, and keep the others', async () => {
    await setWindow('forgotten', [90_000])
    await take('fresh', 5)
    await pruneRateWindows(server.app.db, server.now())
    const left = await server.rows('rate_limits')
    expect(left.map(({ key }) => key)).toContain('fresh')
    expect(left.map(({ key }) => key)).not.toContain('forgotten')
  })
})

describe('a budget of bytes', () => {
  const BUDGET = { bytes: 1000, windowMs: 60_000 }
  const SLICE_MS = BUDGET.windowMs / SLICES
  const spend = (key: string, bytes: number) => createRateLimiter(server.app.db).spend(key, bytes, BUDGET)
  /** Stores an amount that was spent some slices ago. */
  const setSpent = (key: string, spent: [slicesAgo: number, bytes: number][]) => {
    const slice = Math.floor(server.now() / SLICE_MS)
    const hits = spent.flatMap(([slicesAgo, bytes]) => [slice - slicesAgo, bytes])
    return server.insert('rate_windows', { key, hits, allowed: 1, expires_at: 0 })
  }

  test('processes share exactly the budget under 200 concurrent requests, in one small row', async () => {
    {
      const limiters = [createRateLimiter(server.app.db), createRateLimiter(second)]
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, i) => limiters[i % 2]?.spend('shared', 10, BUDGET)),
      )
      expect(results.filter((result) => result?.allowed)).toHaveLength(100)
      for (const result of results.filter((each) => !each?.allowed)) {
        expect(result?.waitMs).toBeWithin(30_000, BUDGET.windowMs + 2 * SLICE_MS)
      }
    }
    const row = await server.row('rate_windows', { key: 'shared' })
    expect(row.hits.length).toBeLessThanOrEqual(2 * (SLICES + 1))
  })

  test('drop what is older than the window, and say when there is room again', async () => {
    await setSpent('old', [
      [SLICES + 2, 900],
      [6, 400],
      [2, 500],
    ])
    expect(await spend('old', 100)).toEqual({ allowed: true, waitMs: 0 })
    const refused = await spend('old', 300)
    expect(refused.allowed).toBe(false)
    expect(refused.waitMs).toBeWithin(5 * SLICE_MS, 8 * SLICE_MS)
  })

  test('count what was spent after a statement began that then waited for its turn', async () => {
    await setSpent('waited', [[-1, 950]])
    expect((await spend('waited', 100)).allowed).toBe(false)
  })

  test('refuse what is larger than the budget, and keep it out of the next decision', async () => {
    expect((await spend('large', 1001)).allowed).toBe(false)
    expect((await spend('large', 1001)).allowed).toBe(false)
    expect((await spend('large', 1000)).allowed).toBe(true)
  })

  test('lock nobody out after the database’s clock was set back', async () => {
    await setSpent('future', [[-100, 1000]])
    expect((await spend('future', 1000)).allowed).toBe(true)
  })

  test('are pruned after their window', async () => {
    await spend('short', 1)
    await pruneRateWindows(server.app.db, server.now())
    const keys = async () => (await server.rows('rate_windows')).map(({ key }) => key)
    expect(await keys()).toContain('short')
    await pruneRateWindows(server.app.db, server.now() + 3 * BUDGET.windowMs)
    expect(await keys()).not.toContain('short')
  })
})

// The last test: it takes the connections of the server away.
test('while PostgreSQL only reads, each process allows its part of a limit, and then all of it together', async () => {
  const countOthers = () => 2
  const limiter = createRateLimiter(second, { countOthers })
  const takeAll = async (key: string) => {
    const taken = await Promise.all(Array.from({ length: 40 }, () => limiter.take(key, 30)))
    return taken.filter(({ allowed }) => allowed).length
  }
  expect(await takeAll('before')).toBe(30)
  const name = new URL(server.databaseUrl ?? '').pathname.slice(1)
  const knife = openPostgresMigrator(server.databaseUrl ?? '')
  const setReadOnly = async (value: 'on' | 'off') => {
    await sql
      .raw(`begin read write; alter database ${name} set default_transaction_read_only = ${value}; commit`)
      .execute(knife)
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(knife)
  }
  try {
    await setReadOnly('on')
    expect(await takeAll('during')).toBe(10)
    expect((await limiter.spend('bytes', 400, { bytes: 1000, windowMs: 60 * SECOND })).allowed).toBeFalse()
    expect((await limiter.spend('bytes', 300, { bytes: 1000, windowMs: 60 * SECOND })).allowed).toBeTrue()
    expect((await limiter.takeRoughly('somebody else', 3)).allowed).toBeTrue()
    expect((await limiter.takeRoughly('somebody else', 3)).allowed).toBeFalse()
  } finally {
    await setReadOnly('off')
    await knife.destroy()
  }
  let round = 0
  await until('the limit to be shared again', async () => (await takeAll(`after ${round++}`)) === 30)
}, 60_000)
