// Takes clicks of a link with a limit before their redirects, in the database, so that all processes together cannot
// exceed the limit.

import { createBatcher } from '../../../lib/concurrency/batcher.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { CachedLink } from '../cache.ts'

type LimitedLink = Pick<CachedLink, 'id' | 'workspaceId'>

export interface ClickLimiter {
  /** Uses one click of the link's limit. @returns false when no click was left */
  use(link: LimitedLink): Promise<boolean>
  /** For requests that do not count as a click: bots, link previews, HEAD. */
  hasLeft(link: LimitedLink): Promise<boolean>
}

/**
 * Checks one link with one statement at a time for all waiting visitors, so that a popular link does not take every
 * connection. One per process.
 */
export function createClickLimiter(
  db: Database,
  onLastClick: LastClickTeller = async () => {},
): ClickLimiter {
  return {
    use: createTurns((link, visitors) => takeClicks(db, link, visitors, onLastClick)),
    hasLeft: createTurns(async (link, visitors) => ((await hasClicksLeft(db, link)) ? visitors : 0)),
  }
}

/** Called in the transaction that takes the last click of a link. */
export type LastClickTeller = (connection: Connection, link: LimitedLink) => Promise<void>

/** @param serve how many of these visitors get a click */
function createTurns(serve: (link: LimitedLink, visitors: number) => Promise<number>) {
  const serveAll = async (visits: LimitedLink[]) => {
    const served = await serve(visits[0] as LimitedLink, visits.length)
    return visits.map((_, n) => n < served)
  }
  return createBatcher(serveAll, { toKey: ({ id }) => id })
}

/** @returns how many clicks were left, at most `count`; all of them without a limit, which may have been removed since */
async function takeClicks(
  db: Database,
  link: LimitedLink,
  count: number,
  onLastClick: LastClickTeller,
): Promise<number> {
  return db.write(async (connection) => {
    const query = connection
      .selectFrom('links')
      .select(['click_limit', 'clicks_used'])
      .where('workspace_id', '=', link.workspaceId)
      .where('id', '=', link.id)
      .where('deleted_at', 'is', null)
    const row = await (db.engine === 'postgres' ? query.forNoKeyUpdate() : query).executeTakeFirst()
    const taken = row ? Math.min(count, countClicksLeft(row)) : 0
    if (!row || taken === 0) return 0
    await connection
      .updateTable('links')
      .set({ clicks_used: row.clicks_used + taken })
      .where('workspace_id', '=', link.workspaceId)
      .where('id', '=', link.id)
      .execute()
    if (taken === countClicksLeft(row)) await onLastClick(connection, link)
    return taken
  })
}

const countClicksLeft = (row: { click_limit: number | null; clicks_used: number }) =>
  row.click_limit === null ? Number.POSITIVE_INFINITY : Math.max(0, row.click_limit - row.clicks_used)

async function hasClicksLeft({ read }: Database, link: LimitedLink): Promise<boolean> {
  const row = await read
    .selectFrom('links')
    .select(['click_limit', 'clicks_used'])
    .where('workspace_id', '=', link.workspaceId)
    .where('id', '=', link.id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined && countClicksLeft(row) > 0
}
