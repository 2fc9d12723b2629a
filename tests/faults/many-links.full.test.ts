// A workspace with very many links: a page of its list costs the same, wherever it begins.

import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { encodeCursor } from '../../server/lib/cursor.ts'
import { timeQuietly } from '../support/processor-time.ts'
import { atScale } from '../support/suite.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../support/world.ts'

const LINKS = atScale({ full: 20_000, soak: 1_000_000 })
const COPIED = [
  'workspace_id',
  'domain',
  'destination_url',
  'geo_targeting',
  'device_targeting',
  'search_text',
]
const PAGES = 15

/** Copies one link in the database: a request for each would take an hour. */
async function copyLink({ app: { db } }: TestServer, { id }: { id: number }) {
  await db.write((connection) =>
    sql`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${LINKS - 1})
      insert into links (${sql.join(COPIED.map((name) => sql.ref(name)))}, slug, slug_key, created_at, updated_at)
      select ${sql.join(COPIED.map((name) => sql.ref(name)))}, 'many' || n, 'many' || n, n, n
      from numbers, links where links.id = ${id}`.execute(connection),
  )
  // As the database does by itself after a while.
  await sql`analyze links`.execute(db.read).catch(() => undefined)
}

/** @returns the milliseconds of one page, and the page */
async function timePage({ api }: TestWorkspace, cursor: string) {
  const read = async () => (await api(`/links?limit=50${cursor && `&cursor=${cursor}`}`)).json
  const page = await read()
  const [, ms] = await timeQuietly(async () => {
    for (let i = 0; i < PAGES; i++) await read()
  })
  return { ms: ms / PAGES, page }
}

onBothEngines(`a workspace with ${LINKS.toLocaleString('en')} links`, (server) => {
  test('a page of the list costs as much at the end as at the beginning', async () => {
    const workspace = await server().createWorkspace()
    await copyLink(server(), await workspace.createLink())
    const first = await timePage(workspace, '')
    // The cursor of a row near the end: nobody turns ten thousand pages in a test.
    const [order] = JSON.parse(Buffer.from(first.page.nextCursor, 'base64url').toString())
    const oldest = (await workspace.api('/links?limit=100&order=asc')).json.data
    const last = await timePage(workspace, encodeCursor({ order, value: 99, id: oldest[98].id }))
    expect([last.page.data[0].slug, last.page.data.length, last.page.total]).toEqual(['many98', 50, LINKS])
    const limitMs = 3 * first.ms + 5
    expect({ first: first.ms, last: last.ms, isAsFast: last.ms < limitMs }).toMatchObject({ isAsFast: true })
  }, 600_000)
})
