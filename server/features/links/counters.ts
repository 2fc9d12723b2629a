// The counters of links. On PostgreSQL, clicks are counted in a narrow table first, and a job moves them into `links` each
// minute; a link's number is the sum of both (docs/adr/0033-counting-together.md). On SQLite the narrow table stays empty.

import { sql } from 'kysely'
import type { Connection, Database } from '../../storage/database/open-database.ts'
import type { LinkRow } from './link.ts'

/**
 * A link with its values from the narrow table. One statement reads both, because the job moves clicks between them.
 */
type CountedLink = LinkRow & { new_clicks: number | null; new_last_clicked_at: number | null }

export function selectLinks(connection: Connection) {
  return connection
    .selectFrom('links')
    .leftJoin('link_counters', 'link_counters.link_id', 'links.id')
    .selectAll('links')
    .select(['link_counters.clicks as new_clicks', 'link_counters.last_clicked_at as new_last_clicked_at'])
}

export function toLinkRow({ new_clicks, new_last_clicked_at, ...link }: CountedLink): LinkRow {
  if (new_clicks === null) return link
  const lastClickedAt = Math.max(link.last_clicked_at ?? 0, new_last_clicked_at ?? 0)
  return { ...link, clicks: link.clicks + new_clicks, last_clicked_at: lastClickedAt }
}

/** The number of links that one transaction moves. It locks them for some milliseconds, and changes of them wait. */
const LINKS_AT_ONCE = 500

/**
 * Moves the new clicks into `links`, which lists are sorted by. Several processes may do it at once. A server of an older
 * release adds to `links` itself: nothing is overwritten.
 */
export async function moveNewClicks({ engine, write }: Pick<Database, 'engine' | 'write'>): Promise<void> {
  if (engine !== 'postgres') return
  for (let moved = LINKS_AT_ONCE; moved === LINKS_AT_ONCE; ) {
    moved = await write(async (connection) => {
      const { rows } = await sql<{ moved: number }>`
        with moved as (
          delete from link_counters where link_id in (
            select link_id from link_counters order by link_id limit ${sql.lit(LINKS_AT_ONCE)} for update skip locked
          ) returning link_id, clicks, last_clicked_at
        ), locked as (
          select id from links where id in (select link_id from moved) order by id for no key update
        ), updated as (
          update links set clicks = links.clicks + moved.clicks,
            last_clicked_at = greatest(links.last_clicked_at, moved.last_clicked_at)
          from moved, locked where links.id = moved.link_id and locked.id = moved.link_id
        )
        select count(*)::int as moved from moved`.execute(connection)
      return rows[0]?.moved ?? 0
    })
  }
}
