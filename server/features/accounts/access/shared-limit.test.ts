// Limits that processes share in PostgreSQL: against the limits in memory, and while PostgreSQL is away.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { until } from '../../../../tests/support/until.ts'
import { startServer, type TestServer } from '../../../../tests/support/world.ts'
import { createSlidingBudgets } from '../../../lib/sliding-budget.ts'
import { createSlidingWindows } from '../../../lib/sliding-window.ts'
import { type DatabaseHandle, openDatabase } from '../../../storage/database/open-database.ts'
import { openPostgresMigrator } from '../../../storage/database/postgres.ts'
import { createRateLimiter } from './rate-limiter.ts'
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
    where key = ${key} and since > ${Date.now() - 10 * DAYS}::bigint`.execute(server.app.db.read)

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
          const [expected, found] = [
            memory.take(name, step.limit),
            await takeShared(server.app.db, name, step.limit),
          ]
          expect([found.allowed, found.remaining]).toEqual([expected.allowed, expected.remaining])
          // The database's clock runs on while the test's stands.
          expect(expected.waitMs - found.waitMs).toBeWithin(-1, 4 * SECOND)
          expect(expected.resetMs - found.resetMs).toBeWithin(-1, 4 * SECOND)
        }
      }
    }),
    { numRuns: 40 },
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
    server.call(`/${slug}`, {
      method: 'POST',
      body: 'password=wrong',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
  for (let i = 0; i < 2; i++) expect((await guess()).status).toBe(403)
  const keys = await server.app.db.read.selectFrom('rate_limits').select('key').execute()
  expect(JSON.stringify(keys)).not.toContain(`link ${id}`)
  for (let i = 0; i < 3; i++)
    expect((await elsewhere.take(`password of link ${id}:127.0.0.1`, 5)).allowed).toBeTrue()
  expect((await guess()).status).toBe(429)
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
