import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startServer, type TestServer } from '../../../../tests/support/world.ts'
import { SLICES } from '../../../lib/sliding-budget.ts'
import { openDatabase } from '../../../storage/database/open-database.ts'
import { createRateLimiter, pruneRateWindows } from './rate-limiter.ts'

const BUDGET = { bytes: 1000, windowMs: 60_000 }
const SLICE_MS = BUDGET.windowMs / SLICES

let server: TestServer
beforeAll(async () => {
  server = await startServer('postgres')
}, 120_000)
afterAll(() => server.close())

const spend = (key: string, bytes: number) => createRateLimiter(server.app.db).spend(key, bytes, BUDGET)
/** Stores what was spent so many slices ago. */
const setSpent = (key: string, spent: [slicesAgo: number, bytes: number][]) => {
  const slice = Math.floor(Date.now() / SLICE_MS)
  const hits = spent.flatMap(([slicesAgo, bytes]) => [slice - slicesAgo, bytes])
  return server.app.db.write((connection) =>
    connection.insertInto('rate_windows').values({ key, hits, allowed: 1, expires_at: 0 }).execute(),
  )
}

test('processes share exactly the budget under 200 concurrent requests, in one small row', async () => {
  const second = await openDatabase({ dataDir: server.dataDir, databaseUrl: server.databaseUrl })
  try {
    const limiters = [createRateLimiter(server.app.db), createRateLimiter(second)]
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, i) => limiters[i % 2]?.spend('shared', 10, BUDGET)),
    )
    expect(results.filter((result) => result?.allowed)).toHaveLength(100)
    for (const result of results.filter((each) => !each?.allowed)) {
      expect(result?.waitMs).toBeWithin(30_000, BUDGET.windowMs + 2 * SLICE_MS)
    }
  } finally {
    await second.close()
  }
  const row = await server.app.db.read
    .selectFrom('rate_windows')
    .select('hits')
    .where('key', '=', 'shared')
    .executeTakeFirstOrThrow()
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
  await pruneRateWindows(server.app.db, Date.now())
  const keys = async () =>
    (await server.app.db.read.selectFrom('rate_windows').select('key').execute()).map(({ key }) => key)
  expect(await keys()).toContain('short')
  await pruneRateWindows(server.app.db, Date.now() + 3 * BUDGET.windowMs)
  expect(await keys()).not.toContain('short')
})
