// Events of links that stop redirecting: their last click is used, or they expire.

import { sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { announceLink } from '../announce-link.ts'
import { type LinkRow, type Site, toLinkResource } from '../link.ts'
import type { LastClickTeller } from './use-click.ts'

interface ClosedLinkNeeds {
  db: Database
  site: Site
  now: () => number
}

/** For `createClickLimiter`. */
export const createLastClickTeller =
  ({ db, site, now }: ClosedLinkNeeds): LastClickTeller =>
  async (connection, { id, workspaceId }) => {
    const event = { workspaceId, event: 'link.closed', at: now() } as const
    await announceLink({ connection, db }, event, async () => {
      const row = await connection
        .selectFrom('links')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return { ...(await toLinkResource(connection, site, row)), reason: 'clickLimit' }
    })
  }

/** Links in one transaction: with SQLite, a hundred are a few milliseconds of the event loop. */
const LINKS_AT_ONCE = 100
const CONSUMER = 'expirations'

/**
 * The job: each expiration once, because the mark moves with the deliveries. A link whose time was changed before the job
 * has seen it did not expire.
 */
export async function announceExpiredLinks(needs: ClosedLinkNeeds): Promise<void> {
  while (await announceSome(needs));
}

function announceSome({ db, site, now }: ClosedLinkNeeds): Promise<boolean> {
  return db.write(async (connection) => {
    const until = now()
    const mark = await readMark(connection)
    if (!mark) {
      // What expired before the first run is no news.
      await connection
        .insertInto('event_marks')
        .values({ consumer: CONSUMER, position: until, step: 0 })
        .execute()
      return false
    }
    // After the clock was set back, the mark waits for it.
    if (until <= mark.position) return false
    const links = await listExpired(connection, mark, until)
    for (const link of links) {
      const event = {
        workspaceId: link.workspace_id,
        event: 'link.closed',
        at: link.expires_at ?? until,
      } as const
      await announceLink({ connection, db }, event, async () => ({
        ...(await toLinkResource(connection, site, link)),
        reason: 'expired',
      }))
    }
    const last = links.at(-1)
    const isWhole = links.length < LINKS_AT_ONCE
    await connection
      .updateTable('event_marks')
      .set({ position: isWhole ? until : (last?.expires_at ?? until), step: isWhole ? 0 : (last?.id ?? 0) })
      .where('consumer', '=', CONSUMER)
      .execute()
    return !isWhole
  })
}

const readMark = (connection: Connection) =>
  connection.selectFrom('event_marks').selectAll().where('consumer', '=', CONSUMER).executeTakeFirst()

/** Of all workspaces that have a channel for events: the job is the server's own. */
async function listExpired(
  connection: Connection,
  { position, step }: { position: number; step: number },
  until: number,
): Promise<LinkRow[]> {
  const { rows } = await sql<LinkRow>`
    select * from links
    where expires_at is not null and (expires_at, id) > (${position}, ${step === 0 ? Number.MAX_SAFE_INTEGER : step})
      and expires_at <= ${until} and deleted_at is null and archived = 0
      and workspace_id in (select workspace_id from channels where events is not null and enabled = 1)
    order by expires_at, id limit ${LINKS_AT_ONCE}`.execute(connection)
  return rows
}
