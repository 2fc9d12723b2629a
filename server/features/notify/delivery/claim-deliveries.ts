// Claims due deliveries: a claim leases a delivery to one process for a minute, and no other process attempts it.

import { type RawBuilder, sql } from 'kysely'
import type { Connection, Database, DatabaseEngine } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareQuery, prepareText } from '../../../storage/database/prepare-query.ts'
import type { ChannelRow } from '../channels/channel.ts'
import { IS_OWNER_NOTICE } from '../outbox/enqueue-deliveries.ts'
import type { ChannelTurn } from './fair-schedule.ts'
import { ATTEMPTS_MAX, INTERRUPTIONS_MAX } from './retry-schedule.ts'

/** Longer than an attempt may take (45 s). */
export const LEASE_MS = 60_000

export interface Claim {
  id: number
  workspaceId: number
  submissionId: number | null
  event: string
  messageId: string
  /** Including the one that this claim is for. */
  attempts: number
  /** The attempts that ended because their process ended. */
  interrupted: number
  /** Attempts before the last retry by hand. */
  attemptsBefore: number
  /** The request that has caused the delivery, and its span. */
  requestId: string | null
  traceparent: string | null
  channel: ChannelRow
}

interface DueDelivery {
  id: number
  workspace_id: number
  channel_id: number
  submission_id: number | null
  event: string
  message_id: string
  attempts: number
  interrupted: number
  attempts_before: number
  request_id: string | null
  traceparent: string | null
  leased_until: number | null
}

export interface ClaimRequest {
  turns: ChannelTurn[]
  /** Notices to owners. The turns leave them out: their channels may be disabled, and they go elsewhere. */
  ownerNotices: { limit: number; inFlightIds: number[] }
  now: number
  leaseMs: number
}

/**
 * Counts each attempt before it runs, so that a delivery which crashes the process is not attempted for ever. Takes over
 * deliveries whose lease has expired.
 */
export async function claimDeliveries(
  connection: Connection,
  engine: DatabaseEngine,
  request: ClaimRequest,
): Promise<Claim[]> {
  const { turns, now, leaseMs } = request
  const rows = await readDue(connection, engine, request)
  if (rows.length === 0) return []
  await recordInterrupted(connection, rows, leaseMs)
  const due = rows.map((row) =>
    row.leased_until === null ? row : { ...row, interrupted: row.interrupted + 1 },
  )
  const spent = due.filter(isSpent)
  if (spent.length > 0) await failSpent(connection, spent, now)
  const claimed = due.filter((row) => !isSpent(row))
  if (claimed.length === 0) return []
  await setLeased(connection, { until: now + leaseMs, ids: claimed.map(({ id }) => id) })
  const channels = new Map(turns.map(({ channel }) => [channel.id, channel]))
  const withoutTurn = claimed.filter(({ channel_id }) => !channels.has(channel_id))
  for (const channel of await readChannels(connection, withoutTurn)) channels.set(channel.id, channel)
  return claimed.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    submissionId: row.submission_id,
    event: row.event,
    messageId: row.message_id,
    attempts: row.attempts + 1,
    interrupted: row.interrupted,
    attemptsBefore: row.attempts_before,
    requestId: row.request_id,
    traceparent: row.traceparent,
    channel: channels.get(row.channel_id) as ChannelRow,
  }))
}

/** A cheap look, for when there may be nothing to do. */
export async function hasWaiting(connection: Connection): Promise<boolean> {
  const [row] = await selectWaiting(connection, {})
  return row !== undefined && row.first !== null
}

const selectWaiting = prepareText(toFirstWaiting)
/** `min` reads the first entry of an index; `limit 1` might read the table. */
function toFirstWaiting() {
  return sql<{
    first: number | null
  }>`select min(channel_id) as first from deliveries where status = 'waiting'`
}

interface Lease extends Record<string, unknown> {
  until: number
  ids: number[]
}

const setLeased = prepareQuery(updateLeased)
function updateLeased(connection: Connection, { until, ids }: Lease) {
  return connection
    .updateTable('deliveries')
    .set((e) => ({
      attempts: e('attempts', '+', 1),
      interrupted: sql<number>`interrupted + case when leased_until is null then 0 else 1 end`,
      leased_until: until,
    }))
    .where(isOneOf(connection, 'id', ids))
}

async function readChannels(connection: Connection, due: DueDelivery[]): Promise<ChannelRow[]> {
  if (due.length === 0) return []
  const ids = due.map(({ channel_id }) => channel_id)
  return (await sql<ChannelRow>`select * from channels where id in (${sql.join(ids)})`.execute(connection))
    .rows
}

/** The deliveries of each turn that have been due longest. */
async function readDue(
  connection: Connection,
  engine: DatabaseEngine,
  { turns, ownerNotices, now }: ClaimRequest,
): Promise<DueDelivery[]> {
  if (engine === 'sqlite') {
    const due: DueDelivery[] = []
    for (const { channel, limit, inFlightIds } of turns)
      due.push(...(await selectTurn(connection, { channelId: channel.id, limit, inFlightIds, now })))
    return [...due, ...(await selectNotices(connection, { ...ownerNotices, now }))]
  }
  // One statement for all turns, because each would be a round trip. When two processes claim at once, the second skips
  // the rows that the first has locked.
  const parts = turns.map((turn) =>
    selectDue(connection, {
      ...turn,
      which: isOfChannel(turn.channel.id),
      limit: toFreeSlots(turn, now),
      now,
    }),
  )
  parts.push(selectDue(connection, { ...ownerNotices, which: IS_OWNER_NOTICE, now }))
  const locked = parts.map(
    (part, n) => sql`select * from (${part} for update skip locked) as ${sql.ref(`turn_${n}`)}`,
  )
  const { rows } = await sql<DueDelivery>`${sql.join(locked, sql` union all `)}`.execute(connection)
  return rows
}

const isOfChannel = (id: number) => sql<boolean>`channel_id = ${id} and not (${IS_OWNER_NOTICE})`

interface DueQuery {
  which: RawBuilder<boolean>
  limit: RawBuilder<unknown> | number
  inFlightIds: number[]
  now: number
}

const selectDue = (connection: Connection, { which, limit, inFlightIds, now }: DueQuery) => sql<DueDelivery>`
  select id, workspace_id, channel_id, submission_id, event, message_id, attempts, interrupted,
    attempts_before, request_id, traceparent, leased_until
  from deliveries
  where ${which} and status = 'waiting' and due_at <= ${now}
    and (leased_until is null or leased_until <= ${now}) and not (${isOneOf(connection, 'id', inFlightIds)})
  order by due_at, id limit ${limit}`

type OwnDueQuery = Record<string, unknown> & Omit<DueQuery, 'which'>

const selectTurn = prepareText((connection, { channelId, ...query }: OwnDueQuery & { channelId: number }) =>
  selectDue(connection, { ...query, which: isOfChannel(channelId) }),
)
const selectNotices = prepareText((connection, query: OwnDueQuery) =>
  selectDue(connection, { ...query, which: IS_OWNER_NOTICE }),
)

/**
 * The slots of a channel that other processes leave free. The turn has locked the channel's row, so no other process claims
 * for it meanwhile. (An SQLite file has one process, and its turns know what runs.)
 */
const toFreeSlots = ({ channel, limit, free, inFlightIds }: ChannelTurn, now: number) => sql`
  greatest(0, least(${limit}::bigint, ${free}::bigint - (
    select count(*) from deliveries where workspace_id = ${channel.workspace_id} and channel_id = ${channel.id}
      and status = 'waiting'
      and leased_until is not null and leased_until > ${now} and not (${IS_OWNER_NOTICE})
      and id not in (${sql.join([0, ...inFlightIds])})
  )))`

/** Records an attempt for each lease that expired: its process ended before it recorded a result. */
async function recordInterrupted(connection: Connection, due: DueDelivery[], leaseMs: number) {
  const interrupted = due.flatMap(({ id, workspace_id, attempts, leased_until }) =>
    leased_until === null
      ? []
      : [
          {
            delivery_id: id,
            workspace_id,
            attempt: attempts,
            outcome: 'interrupted',
            http_status: null,
            answer: null,
            request: null,
            took_ms: 0,
            at: leased_until - leaseMs,
          },
        ],
  )
  if (interrupted.length > 0) await connection.insertInto('delivery_attempts').values(interrupted).execute()
}

const isSpent = ({ attempts, interrupted }: DueDelivery) =>
  attempts - interrupted >= ATTEMPTS_MAX || interrupted >= INTERRUPTIONS_MAX

/** Fails the deliveries whose last allowed attempt was interrupted. */
async function failSpent(connection: Connection, spent: DueDelivery[], now: number) {
  await sql`update deliveries set status = 'failed', due_at = null, leased_until = null, finished_at = ${now},
      last_error = ${'Towpath stopped in the middle of the last attempt'}
    where id in (${sql.join(spent.map(({ id }) => id))})`.execute(connection)
}

/** An SQLite file has one process. When it starts, the process that held the leases is gone. */
export async function releaseLeases(db: Database, now: number): Promise<void> {
  if (db.engine !== 'sqlite') return
  await db.write((connection) =>
    sql`update deliveries set leased_until = ${now}
      where status = 'waiting' and leased_until > ${now}`.execute(connection),
  )
}
