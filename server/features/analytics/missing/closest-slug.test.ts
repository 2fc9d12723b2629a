import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'kysely'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { onBothEngines, type TestServer } from '../../../../tests/support/world.ts'
import { createLookUpBudget, findNeighbors } from './closest-slug.ts'

setDefaultTimeout(600_000)

const FEW = 400
const PER_WRITE = 50_000
const MANY = atScale({ full: 50_000, soak: 1_000_000 })
const SEARCHES = 30

/** Links with slugs that have a long beginning in common, which is the worst for an index. */
async function addLinks({ app, engine }: TestServer, domain: string, workspaceId: number, count: number) {
  const slug =
    engine === 'sqlite' ? sql`'campaign-' || printf('%07d', n)` : sql`'campaign-' || lpad(n::text, 7, '0')`
  const columns = sql.raw(
    'workspace_id, domain, slug, slug_key, destination_url, geo_targeting, device_targeting, search_text, ' +
      'archived, clicks_used, forward_query, track_conversions, redirect_status, created_at, updated_at',
  )
  for (let from = 0; from < count; from += PER_WRITE) {
    const until = Math.min(count, from + PER_WRITE)
    await app.db.write((connection) =>
      sql`insert into links (${columns})
        with recursive numbers (n) as (select ${from} + 1 union all select n + 1 from numbers where n < ${until})
        select ${workspaceId}, ${domain}, ${slug}, ${slug}, 'https://example.com/', '{}', '{}', '',
          0, 0, 0, 0, 302, 0, 0 from numbers`.execute(connection),
    )
  }
  // As PostgreSQL does by itself after a while.
  if (engine === 'postgres') await sql`analyze links`.execute(app.db.read)
}

onBothEngines('the closest slug', (server) => {
  test('costs as little among many links as among few', async () => {
    const { id: workspaceId } = await server().createWorkspace()
    await addLinks(server(), 'few.example', workspaceId, FEW)
    await addLinks(server(), 'many.example', workspaceId, MANY)
    const find = (domain: string, slugKey: string) =>
      findNeighbors(
        server().app.db,
        { domain, slugKey, workspaceId, caseSensitive: false, now: server().now() },
        createLookUpBudget(),
      )
    const measure = (domain: string) =>
      measureProcessorMs(async () => {
        for (let n = 0; n < SEARCHES; n++) await find(domain, `campagn-${n}000${n}-nothing`)
      })
    await measure('few.example')
    const few = await measure('few.example')
    const many = await measure('many.example')
    expect(many).toBeLessThan(4 * few)
    // A mistake is found wherever it is, among links that all begin alike.
    for (let at = 0; at < 'campaign-'.length; at++) {
      const mistaken = `${'campaign-'.slice(0, at)}x${'campaign-'.slice(at + 1)}0000777`
      expect(await find('many.example', mistaken)).toMatchObject({ closest: { slug: 'campaign-0000777' } })
    }
    for (const mistaken of ['campaign-00x00777', 'campaign-000077x7', 'campaign-0000777x'])
      expect(await find('many.example', mistaken)).toMatchObject({ closest: { slug: 'campaign-0000777' } })
  })
})
