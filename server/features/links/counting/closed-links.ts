// Events of links that stop redirecting: their last click is used, or they expire.

import { type Selectable, sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { EventMarks } from '../../../storage/database/tables/notify-tables.ts'
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
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return false
    }
    // After the clock was set back, the mark waits for it.
    if (until <= mark.position) return false
    const links = await listExpired(connection, mark, until)
    const isWhole = links.length < LINKS_AT_ONCE
    const last = isWhole ? undefined : links.at(-1)
    const next = { position: last?.expires_at ?? until, step: last?.id ?? 0 }
    // Another run, whose lease has ended, may have told of them.
    if (!(await moveMark(connection, mark, next))) return false
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
    return !isWhole
  })
}

type ExpirationMark = Pick<Selectable<EventMarks>, 'position' | 'step'>

/** @returns false where the mark is not at `from` any more */
async function moveMark(connection: Connection, from: ExpirationMark, to: ExpirationMark): Promise<boolean> {
  const moved = await connection
    .updateTable('event_marks')
    .set(to)
    .where('consumer', '=', CONSUMER)
    .where('position', '=', from.position)
    .where('step', '=', from.step)
    .returning('consumer')
    .executeTakeFirst()
  return moved !== undefined
}

const readMark = (connection: Connection) =>
  connection.selectFrom('event_marks').selectAll().where('consumer', '=', CONSUMER).executeTakeFirst()

/** Of all workspaces that have a channel for events: the job is the server's own. */
async function listExpired(
  connection: Connection,
  { position, step }: ExpirationMark,
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
