// Redirects while PostgreSQL is down: cached links redirect, and all others answer 503 with Retry-After.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type PostgresServer, startPostgres } from '../../../tests/support/postgres/postgres-server.ts'
import { startQuietClock } from '../../../tests/support/processor-time.ts'
import { readMetric } from '../../../tests/support/read-metrics.ts'
import { until } from '../../../tests/support/until.ts'
import { startServer, type TestServer } from '../../../tests/support/world.ts'
import { openDatabase } from '../../storage/database/open-database.ts'
import { recordChange } from '../../storage/database/record-change.ts'
import { toSlugKey } from '../links/slug.ts'
import { expectVisitorPage } from './redirect.fixture.ts'

// Longer than the 2 s for which the cache answers without a query once no changes can be read, so that queries are tried
// and fail.
const OUTAGE_MS = 3_500

let postgres: PostgresServer
let server: TestServer

beforeAll(async () => {
  postgres = await startPostgres()
  server = await startServer('sqlite', { environment: { DATABASE_URL: postgres.url } })
}, 120_000)

afterAll(async () => {
  await server?.close()
  await postgres?.end()
})

test('cached links redirect during the outage, and others work again after it', async () => {
  const ws = await server.createWorkspace()
  const known = await ws.createLink({})
  const limited = await ws.createLink({ clickLimit: 5 })
  const unknown = await ws.createLink({})
  // The feed of changes voids a new link once more: only its next click keeps it in the cache.
  const made = performance.now()
  await until('a look at the changes', async () => {
    const lag = await readMetric(server.origin, 'towpath_change_feed_lag_seconds')
    return lag * 1000 < performance.now() - made
  })
  for (const { slug } of [known, limited]) expect((await server.click(slug)).status).toBe(302)
  await postgres.stop('immediate')
  const stopped = performance.now()
  const askedUnknown = server.click(unknown.slug)
  const askedLimited = server.click(limited.slug, { Accept: 'application/json' })
  const clock = startQuietClock()
  let slowest = 0
  let answered = 0
  while (performance.now() - stopped < OUTAGE_MS) {
    const before = clock.elapsed()
    expect((await server.click(known.slug)).status).toBe(302)
    // Some hundred requests are enough, and leave processor time to other tests.
    await Bun.sleep(20)
    slowest = Math.max(slowest, clock.elapsed() - before)
    answered++
  }
  clock.stop()
  // A request that waited for the database would have taken as long as those below.
  expect(slowest).toBeLessThan(2_000)
  expect(answered).toBeGreaterThan(3)

  const page = await askedUnknown
  expect(page.status).toBe(503)
  expect(Number(page.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expectVisitorPage(page)
  const json = await askedLimited
  expect([json.status, json.json]).toEqual([503, { error: 'Temporarily unavailable' }])
  expect((await server.click('nothing-here')).status).toBe(503)

  await postgres.start()
  await until('the unknown link', async () => (await server.click(unknown.slug)).status === 302)
  await until('the missing slug', async () => (await server.click('nothing-here')).status === 404)
  await until('the limited link', async () => (await server.click(limited.slug)).status === 302)
  await ws.patch(`/links/${known.id}`, { archived: true })
  expect((await server.click(known.slug)).status).toBe(404)
  // The clicks during the outage are counted.
  await until('the clicks of the outage', async () => {
    await server.waitUntilShipped()
    return (await ws.api(`/links/${known.id}`)).json.data.clicks === answered + 1
  })
}, 120_000)

test('a change by another process takes effect', async () => {
  const ws = await server.createWorkspace()
  const { id, slug } = await ws.createLink({})
  expect((await server.click(slug)).status).toBe(302)
  const other = await openDatabase({ dataDir: server.dataDir, databaseUrl: postgres.url })
  await other.write(async (connection, onCommit) => {
    await connection.updateTable('links').set({ archived: 1 }).where('id', '=', id).execute()
    recordChange(onCommit, { domain: '', slugKey: toSlugKey(slug) })
  })
  await other.close()
  await until('the change', async () => (await server.click(slug)).status === 404)
}, 120_000)
