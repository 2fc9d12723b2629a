// A whole server joins the others on its PostgreSQL, and leaves them.

import { afterEach, expect, test } from 'bun:test'
import { createInstallation, type Installation } from '../tests/faults/server-process.ts'
import { migratedDatabase } from '../tests/support/migrated-database.ts'
import { until } from '../tests/support/until.ts'
import { type DatabaseHandle, openDatabase } from './storage/database/open-database.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const SECRET = 'a secret of forty characters, more or less'

async function openPlace() {
  const { url } = await migratedDatabase()
  const first = await createInstallation(1, url)
  const second = await createInstallation(0, url)
  const db = await openDatabase({ dataDir: first.dataDir, databaseUrl: url })
  ends.push(second.end, first.end, () => db.close())
  return { first, second, db }
}

const start = (installation: Installation, environment: Record<string, string> = {}) =>
  installation.start({ environment: { TOWPATH_SECRET: SECRET, ...environment } })

const readRefusal = (starting: Promise<unknown>) =>
  starting.then(
    () => 'started',
    (error: Error) => error.message,
  )

const listNodes = (db: DatabaseHandle) => db.read.selectFrom('nodes').selectAll().execute()

test('a server leaves with everything shipped, also what came last; another one takes its place', async () => {
  const { first, second, db } = await openPlace()
  const server = await start(first)
  const { json } = await server.api(first.keys[0] ?? '', '/links', { destinationUrl: 'https://example.com/' })
  expect((await server.click(json.data.slug)).status).toBe(302)
  const listLeases = () => db.read.selectFrom('leases').select('name').execute()
  await until('a job under a lease', async () => (await listLeases()).length > 0)
  expect(await listLeases()).toEqual([{ name: 'resolve pending attribution' }])
  expect((await server.click(json.data.slug)).status).toBe(302)
  expect(await server.stop()).toBe(0)
  expect(await listLeases()).toEqual([])
  expect(await listNodes(db)).toMatchObject([{ left_at: expect.any(Number), hit_store: 'duckdb' }])
  await db.write((connection) =>
    connection.insertInto('erasures').values({ workspace_id: 999, requested_at: 1 }).execute(),
  )
  await start(second)
  const nodes = await listNodes(db)
  expect(nodes).toHaveLength(2)
  // Its directory is empty, so it has erased what was deleted before.
  const marks = await db.read.selectFrom('erasure_marks').select(['workspace_id', 'node']).execute()
  expect(marks).toEqual([
    { workspace_id: 999, node: nodes.find(({ left_at }) => left_at === null)?.node ?? '' },
  ])
}, 120_000)

test('a server that was killed starts again at once, and another one is refused beside it', async () => {
  const { first, second, db } = await openPlace()
  await (await start(first)).kill()
  await start(first)
  expect(await readRefusal(start(second, { TOWPATH_SECRET: `${SECRET}!` }))).toContain(
    'Give all of them one TOWPATH_SECRET',
  )
  const nodes = await listNodes(db)
  expect(nodes).toMatchObject([{ left_at: null }])
  const refusal = await readRefusal(start(second))
  expect(refusal).toContain('Towpath cannot start:')
  expect(refusal).toContain(`Another Towpath server uses this PostgreSQL database (node ${nodes[0]?.node}`)
  expect(refusal).not.toContain(SECRET)
  expect(await listNodes(db)).toHaveLength(1)
}, 120_000)

test('a server ends at once when another process takes its node over', async () => {
  const { first, db } = await openPlace()
  const server = await start(first)
  await db.write((connection) => connection.updateTable('nodes').set({ process: 'a copy' }).execute())
  await until('the server to end', () =>
    server.readOutput().includes('Another server runs with the id of this one'),
  )
  expect(await server.stop()).toBe(1)
}, 120_000)
