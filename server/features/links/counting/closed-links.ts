// Events of links that stop redirecting: their last click or lead is used, or they expire.

import { type Selectable, sql } from 'kysely'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { EventMarks } from '../../../storage/database/tables/notify-tables.ts'
import { announceLink } from '../announce-link.ts'
import { creditLeads, type LeadCrediter } from '../credit-leads.ts'
import { type LinkRow, type Site, toLinkResource } from '../link.ts'
import type { CloseReason } from '../schema.ts'
import type { LastClickTeller } from './use-click.ts'

interface ClosedLinkNeeds {
  db: Database
  site: Site
  now: () => number
}

/** For `createClickLimiter`. */
export const createLastClickTeller =
  (needs: ClosedLinkNeeds): LastClickTeller =>
  async (connection, { id, workspaceId }) =>
    announceClosed(needs, connection, await getClosedLink(connection, workspaceId, id), 'clickLimit')

/** A lead may come when its link is closed already. */
export const createLeadCrediter =
  (needs: ClosedLinkNeeds): LeadCrediter =>
  async (connection, onCommit, credit) => {
    if (!(await creditLeads(connection, onCommit, credit))) return
    const link = await getClosedLink(connection, credit.workspaceId, credit.linkId)
    if (link.deleted_at !== null || link.archived === 1 || isExpired(link, needs.now())) return
    await announceClosed(needs, connection, link, 'leadLimit')
  }

const isExpired = ({ expires_at: at }: LinkRow, now: number) => at !== null && at <= now

const getClosedLink = (connection: Connection, workspaceId: number, id: number): Promise<LinkRow> =>
  connection
    .selectFrom('links')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

function announceClosed(
  { db, site, now }: ClosedLinkNeeds,
  connection: Connection,
  link: LinkRow,
  reason: CloseReason,
  at = now(),
): Promise<void> {
  const event = { workspaceId: link.workspace_id, event: 'link.closed', at } as const
  return announceLink({ connection, db }, event, async () => ({
    ...(await toLinkResource(connection, site, link)),
    reason,
  }))
}

/** Links in one transaction: with SQLite, a hundred are a few milliseconds of the event loop. */
const LINKS_AT_ONCE = 100
const CONSUMER = 'expirations'
/** Interval of updating the mark without notifications: a commit costs a disk sync, and a look only a read. */
const IDLE_MS = 10 * 60_000

export interface ExpirationAnnouncer {
  /** Tells of each expiration once, because the mark moves with the deliveries. */
  run(): Promise<void>
}

/** A link with a later time by the time of the run did not expire. */
export function createExpirationAnnouncer(needs: ClosedLinkNeeds): ExpirationAnnouncer {
  const { db, now } = needs
  // This process has checked until then, without anything to notify.
  let lookedUntil = 0
  return {
    async run() {
      const until = now()
      const mark = await readMark(db.read)
      if (mark) {
        const from = toLater(mark, lookedUntil)
        const isIdle = (await listExpired(db.read, from, until, 1)).length === 0
        if (isIdle) lookedUntil = Math.max(lookedUntil, until)
        if (isIdle && until - mark.position < IDLE_MS) return
      }
      while (await announceSome(needs, lookedUntil));
    },
  }
}

function announceSome(needs: ClosedLinkNeeds, lookedUntil: number): Promise<boolean> {
  const { db, now } = needs
  return db.write(async (connection) => {
    const until = now()
    const mark = await readMark(connection)
    if (!mark) {
      // Links that expired before the first run are not announced.
      await connection
        .insertInto('event_marks')
        .values({ consumer: CONSUMER, position: until, step: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return false
    }
    // After the clock was set back, the mark waits for it.
    if (until <= mark.position) return false
    const links = await listExpired(connection, toLater(mark, lookedUntil), until, LINKS_AT_ONCE)
    const isWhole = links.length < LINKS_AT_ONCE
    const last = isWhole ? undefined : links.at(-1)
    const next = { position: last?.expires_at ?? until, step: last?.id ?? 0 }
    // Another run with an ended lease may have announced them.
    if (!(await moveMark(connection, mark, next))) return false
    for (const link of links)
      await announceClosed(needs, connection, link, 'expired', link.expires_at ?? until)
    return !isWhole
  })
}

/** The last announced link. With step 0, all links of that moment. */
type ExpirationMark = Pick<Selectable<EventMarks>, 'position' | 'step'>

const toLater = (mark: ExpirationMark, lookedUntil: number): ExpirationMark =>
  lookedUntil > mark.position ? { position: lookedUntil, step: 0 } : mark

/** @returns false when the mark is no longer at `from` */
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

/** Of all workspaces that have a channel for them: the job is the server's own. */
async function listExpired(
  connection: Connection,
  { position, step }: ExpirationMark,
  until: number,
  limit: number,
): Promise<LinkRow[]> {
  const { rows } = await sql<LinkRow>`
    select * from links
    where expires_at is not null and (expires_at, id) > (${position}, ${step === 0 ? Number.MAX_SAFE_INTEGER : step})
      and expires_at <= ${until} and deleted_at is null and archived = 0
      and exists (select 1 from channels where channels.workspace_id = links.workspace_id
        and events like '%"link.closed"%' and enabled = 1 and channels.created_at <= expires_at)
    order by expires_at, id limit ${limit}`.execute(connection)
  return rows
}
