// Every link that was answered with 201 is stored, although the process or the database crashes right after.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import pg from 'pg'
import { closeAfterAll } from '../support/close-after-all.ts'
import { startPostgres } from '../support/postgres/postgres-server.ts'
import { atScale } from '../support/suite.ts'
import { until } from '../support/until.ts'
import { type LoadGenerator, startLoadGenerator } from './load-generator.ts'
import { createInstallation, type Installation, randomMs, type ServerProcess } from './server-process.ts'

const closeLater = closeAfterAll()

const WORKERS = 24
const ROUNDS = atScale({ full: 2, soak: 5 })
/** Long, because the machine may be busy with other processes. */
const WITHIN_MS = 60_000
/** Each workspace may send 300 requests a minute. */
const WORKSPACES = 40
/** Enough that a kill comes between many answers, on a slow machine too. */
const LINKS_A_ROUND = 50

/** Creates links as fast as the server takes them. Each has its own tag, so that a half-stored link is noticed. */
function createLinks(installation: Installation, server: ServerProcess, name: string): LoadGenerator {
  const load = startLoadGenerator(WORKERS, async (number) => {
    const slug = `${name}-${number}`
    const key = installation.keys[number % installation.keys.length] as string
    const body = { destinationUrl: 'https://example.com/', slug, tagNames: [`tag of ${slug}`] }
    const { status, headers, json } = await server.api(key, '/links', body)
    return { status, headers, acknowledged: status === 201 ? json.data.slug : undefined }
  })
  closeLater(load.stop)
  return load
}

describe('every link that was answered with 201', () => {
  test(`is stored with its tag after kill -9 at ${ROUNDS} random moments`, async () => {
    const installation = await createInstallation(WORKSPACES)
    closeLater(installation.end)
    const acknowledged = new Set<string>()
    for (let round = 0; round < ROUNDS; round++) {
      const server = await installation.start()
      const load = createLinks(installation, server, `round-${round}`)
      await until('some links', () => load.acknowledged.length > LINKS_A_ROUND, WITHIN_MS)
      await Bun.sleep(randomMs(0, 400))
      await server.kill()
      await load.stop()
      expect([...load.statuses.keys()].sort()).toEqual([0, 201])
      for (const slug of load.acknowledged) acknowledged.add(slug)
    }

    const server = await installation.start()
    const last = [...acknowledged].at(-1) as string
    expect((await server.click(last)).status).toBe(302)
    const database = new Database(join(installation.dataDir, 'towpath.db'), { readonly: true })
    const stored = database
      .query('select slug, (select count(*) from link_tags where link_id = links.id) as tags from links')
      .all() as { slug: string; tags: number }[]
    const storedSlugs = new Set(stored.map(({ slug }) => slug))
    expect([...acknowledged].filter((slug) => !storedSlugs.has(slug))).toEqual([])
    expect(stored.filter(({ tags }) => tags !== 1)).toEqual([])
    expect(database.query('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(database.query('pragma foreign_key_check').all()).toEqual([])
    // Requests that were in flight at a kill may be stored too.
    expect(stored.length - acknowledged.size).toBeWithin(0, ROUNDS * WORKERS + 1)
    expect(acknowledged.size).toBeGreaterThan(ROUNDS * LINKS_A_ROUND)
    database.close()
    expect(await server.stop()).toBe(0)
  }, 300_000)

  test('is stored after PostgreSQL crashes under load, and the server creates links again without a restart', async () => {
    const postgres = await startPostgres({ durable: true })
    closeLater(postgres.end)
    const installation = await createInstallation(WORKSPACES, postgres.url)
    closeLater(installation.end)
    const server = await installation.start()
    const load = createLinks(installation, server, 'crash')
    await until('the first links', () => load.acknowledged.length > LINKS_A_ROUND, WITHIN_MS)
    for (let crash = 0; crash < 2; crash++) {
      await Bun.sleep(randomMs(100, 300))
      await postgres.restart('immediate')
      const before = load.acknowledged.length
      await until('links after the crash', () => load.acknowledged.length > before + WORKERS, WITHIN_MS)
    }
    await load.stop()

    expect([...load.statuses.keys()].filter((status) => status !== 201 && status !== 503)).toEqual([])
    expect(load.withoutRetryAfter).toBe(0)
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    const { rows } = await client.query<{ slug: string; tags: string }>(
      'select slug, (select count(*) from link_tags where link_id = links.id) as tags from links',
    )
    await client.end()
    const storedSlugs = new Set(rows.map(({ slug }) => slug))
    expect(load.acknowledged.filter((slug) => !storedSlugs.has(slug))).toEqual([])
    expect(rows.filter(({ tags }) => tags !== '1')).toEqual([])
    // As many requests at once as the pool has connections: every connection works again.
    const all = await Promise.all(
      installation.keys.slice(0, 30).map((key) => server.api(key, '/links?limit=1')),
    )
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await server.stop()).toBe(0)
  }, 300_000)
})
