// A whole server joins the others on its PostgreSQL, and leaves them.

import { afterEach, expect } from 'bun:test'
import { createInstallation } from '../../tests/faults/server-process.ts'
import { migratedDatabase } from '../../tests/support/migrated-database.ts'
import { full, quick } from '../../tests/support/suite.ts'
import { until } from '../../tests/support/until.ts'
import { startServer } from '../../tests/support/world.ts'
import { type DatabaseHandle, openDatabase } from '../storage/database/open-database.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const SECRET = 'a secret of forty characters, more or less'

async function openPlace() {
  const { url } = await migratedDatabase()
  const installation = await createInstallation(0, url)
  const db = await openDatabase({ dataDir: installation.dataDir, databaseUrl: url })
  ends.push(installation.end, () => db.close())
  const start = (environment: Record<string, string> = {}) =>
    startServer('sqlite', { environment: { DATABASE_URL: url, TOWPATH_SECRET: SECRET, ...environment } })
  return { installation, db, start }
}

const listNodes = (db: DatabaseHandle) => db.read.selectFrom('nodes').selectAll().execute()

quick(
  'a server leaves with everything shipped, also what came last; another one takes its place',
  async () => {
    const { db, start } = await openPlace()
    const server = await start()
    const { slug } = await (await server.createWorkspace()).createLink()
    expect((await server.click(slug)).status).toBe(302)
    const listLeases = () => db.read.selectFrom('leases').select('name').execute()
    await until('a job under a lease', async () => (await listLeases()).length > 0)
    expect((await server.click(slug)).status).toBe(302)
    await server.close()
    expect(await listLeases()).toEqual([])
    expect(await listNodes(db)).toMatchObject([{ left_at: expect.any(Number), hit_store: 'duckdb' }])
    await db.write((connection) =>
      connection.insertInto('erasures').values({ workspace_id: 999, requested_at: 1 }).execute(),
    )
    const second = await start()
    ends.push(second.close)
    const nodes = await listNodes(db)
    expect(nodes).toHaveLength(2)
    // Its directory is empty, so it has erased what was deleted before.
    const marks = await db.read.selectFrom('erasure_marks').select(['workspace_id', 'node']).execute()
    expect(marks).toEqual([
      { workspace_id: 999, node: nodes.find(({ left_at }) => left_at === null)?.node ?? '' },
    ])
    await expect(start({ TOWPATH_SECRET: `${SECRET}!` })).rejects.toThrow(
      'Give all of them one TOWPATH_SECRET',
    )
    expect(await listNodes(db)).toHaveLength(2)
  },
  120_000,
)

full(
  'a server that was killed starts again at once, alone, and ends when another process takes its node over',
  async () => {
    const { installation, db, start } = await openPlace()
    const environment = { TOWPATH_SECRET: SECRET }
    await (await installation.start({ environment })).kill()
    const server = await installation.start({ environment })
    const [node] = await listNodes(db)
    await expect(start()).rejects.toThrow(
      `Another Towpath server uses this PostgreSQL database (node ${node?.node}`,
    )
    expect(await listNodes(db)).toHaveLength(1)
    await db.write((connection) => connection.updateTable('nodes').set({ process: 'a copy' }).execute())
    await until('the server to end', () =>
      server.readOutput().includes('Another server runs with the id of this one'),
    )
    expect(await server.stop()).toBe(1)
  },
  120_000,
)
