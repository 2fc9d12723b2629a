// Reads the click counters of all links, a few thousand at a time, so that redirects run in between.

import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Connection } from '../../storage/database/open-database.ts'

/** Lists of equal length. */
export interface RowClicks {
  /** Ascending. */
  linkIds: number[]
  workspaceIds: number[]
  /** Those that have hits: without `clicks_before`. */
  clicks: number[]
}

/** Two milliseconds of SQLite. */
const LINKS_AT_ONCE = 1000

export async function listRowClicks(read: Connection): Promise<RowClicks> {
  const found: RowClicks = { linkIds: [], workspaceIds: [], clicks: [] }
  for (let last = 0; ; ) {
    await takeTurn()
    const rows = await listNextLinks(read, last)
    for (const { id, workspace_id, clicks, clicks_before, new_clicks } of rows) {
      found.linkIds.push(id)
      found.workspaceIds.push(workspace_id)
      found.clicks.push(clicks - clicks_before + (new_clicks ?? 0))
    }
    if (rows.length < LINKS_AT_ONCE) return found
    last = rows.at(-1)?.id ?? last
  }
}

/** Both counters in one statement: a job moves clicks from one to the other (links/counters.ts). */
function listNextLinks(read: Connection, after: number) {
  return read
    .selectFrom('links')
    .leftJoin('link_counters', 'link_counters.link_id', 'links.id')
    .select(['links.id', 'links.workspace_id', 'links.clicks', 'links.clicks_before'])
    .select('link_counters.clicks as new_clicks')
    .where('links.id', '>', after)
    .orderBy('links.id')
    .limit(LINKS_AT_ONCE)
    .execute()
}

/** The last batch of each node that the counters have. */
export async function readCountMarks(read: Connection): Promise<Record<string, number>> {
  const marks = await read.selectFrom('click_marks').selectAll().where('node', '!=', '').execute()
  return Object.fromEntries(marks.map(({ node, batch }) => [node, batch]))
}
