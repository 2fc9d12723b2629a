// Takes what is due: whoever takes something has it for a minute, and nobody else meanwhile.

import { type RawBuilder, sql } from 'kysely'
import type { Connection, Database, DatabaseEngine } from '../../../storage/database/open-database.ts'
import type { ChannelRow } from '../channels/channel.ts'
import { CHANNEL_DISABLED } from './enqueue-deliveries.ts'
import type { ChannelTurn } from './fair-schedule.ts'
import { ATTEMPTS_MAX, INTERRUPTIONS_MAX } from './retry-schedule.ts'

/** Longer than an attempt may take. */
export const LEASE_MS = 60_000

export interface Claim {
  id: number
  workspaceId: number
  submissionId: number | null
  event: string
  messageId: string
  /** With this one. */
  attempts: number
  /** Those of them that ended with the process. */
  interrupted: number
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
  leased_until: number | null
}

export interface ClaimRequest {
  turns: ChannelTurn[]
  /** Word to owners: of a channel that is off, so that it is nobody's turn. */
  disabledNotices: { most: number; inHand: number[] }
  now: number
  leaseMs: number
}

/**
 * Counts the attempt before it is made: one that ends the process is not made for ever. What another process took and
 * did not bring back in time is taken over.
 */
export async function claimDeliveries(
  connection: Connection,
  engine: DatabaseEngine,
  wanted: ClaimRequest,
): Promise<Claim[]> {
  const { turns, now, leaseMs } = wanted
  const found = await readDue(connection, engine, wanted)
  if (found.length === 0) return []
  await recordInterrupted(connection, found, leaseMs)
  const due = found.map((row) =>
    row.leased_until === null ? row : { ...row, interrupted: row.interrupted + 1 },
  )
  const spent = due.filter(isSpent)
  if (spent.length > 0) await failSpent(connection, spent, now)
  const taken = due.filter((row) => !isSpent(row))
  if (taken.length === 0) return []
  await sql`update deliveries set attempts = attempts + 1,
      interrupted = interrupted + case when leased_until is null then 0 else 1 end, leased_until = ${now + leaseMs}
    where id in (${sql.join(taken.map(({ id }) => id))})`.execute(connection)
  const channels = new Map(turns.map(({ channel }) => [channel.id, channel]))
  const unknown = taken.filter(({ channel_id }) => !channels.has(channel_id))
  for (const channel of await readChannels(connection, unknown)) channels.set(channel.id, channel)
  return taken.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    submissionId: row.submission_id,
    event: row.event,
    messageId: row.message_id,
    attempts: row.attempts + 1,
    interrupted: row.interrupted,
    channel: channels.get(row.channel_id) as ChannelRow,
  }))
}

async function readChannels(connection: Connection, due: DueDelivery[]): Promise<ChannelRow[]> {
  if (due.length === 0) return []
  const ids = due.map(({ channel_id }) => channel_id)
  return (await sql<ChannelRow>`select * from channels where id in (${sql.join(ids)})`.execute(connection))
    .rows
}

/** The longest due of each channel, in one statement. */
async function readDue(
  connection: Connection,
  engine: DatabaseEngine,
  { turns, disabledNotices, now }: ClaimRequest,
): Promise<DueDelivery[]> {
  // Of two processes that ask at once, the second passes over what the first has in hand.
  const locking = engine === 'postgres' ? sql`for update skip locked` : sql``
  const part = (name: string, which: RawBuilder<unknown>, most: number, inHand: number[]) => sql<DueDelivery>`
    select * from (
      select id, workspace_id, channel_id, submission_id, event, message_id, attempts, interrupted, leased_until
      from deliveries
      where ${which} and status = 'waiting' and due_at <= ${now}
        and (leased_until is null or leased_until <= ${now}) and id not in (${sql.join([0, ...inHand])})
      order by due_at, id limit ${most} ${locking}
    ) as ${sql.ref(name)}`
  const parts = turns.map(({ channel, limit, inFlightIds }, i) =>
    part(
      `of_${i}`,
      sql`channel_id = ${channel.id} and event <> ${sql.lit(CHANNEL_DISABLED)}`,
      limit,
      inFlightIds,
    ),
  )
  parts.push(
    part('of_words', sql`event = ${sql.lit(CHANNEL_DISABLED)}`, disabledNotices.most, disabledNotices.inHand),
  )
  const { rows } = await sql<DueDelivery>`${sql.join(parts, sql` union all `)}`.execute(connection)
  return rows
}

/** Whoever had it before has not said how it ended. */
async function recordInterrupted(connection: Connection, due: DueDelivery[], leaseMs: number) {
  const lost = due.flatMap(({ id, workspace_id, attempts, leased_until }) =>
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
            took_ms: 0,
            at: leased_until - leaseMs,
          },
        ],
  )
  if (lost.length > 0) await connection.insertInto('delivery_attempts').values(lost).execute()
}

const isSpent = ({ attempts, interrupted }: DueDelivery) =>
  attempts - interrupted >= ATTEMPTS_MAX || interrupted >= INTERRUPTIONS_MAX

/** Its last attempt was the one that was interrupted. */
async function failSpent(connection: Connection, spent: DueDelivery[], now: number) {
  await sql`update deliveries set status = 'failed', due_at = null, leased_until = null, finished_at = ${now}
    where id in (${sql.join(spent.map(({ id }) => id))})`.execute(connection)
}

/** For the one process of an SQLite file, at its start: whoever had something in hand is gone. */
export async function releaseLeases(db: Database, now: number): Promise<void> {
  if (db.engine !== 'sqlite') return
  await db.write((connection) =>
    sql`update deliveries set leased_until = ${now}
      where status = 'waiting' and leased_until > ${now}`.execute(connection),
  )
}
