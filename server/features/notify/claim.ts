// Takes what is due, a little for each channel in turn, so that nobody waits behind another's thousands.

import { type RawBuilder, sql } from 'kysely'
import type { Db, Engine, Rows } from '../../storage/rows/open.ts'
import type { ChannelRow } from './channel.ts'
import { ATTEMPTS_MAX } from './ladder.ts'

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
  channel: ChannelRow
}

export interface Turn {
  channel: ChannelRow
  /** How many at most. */
  most: number
  /** Not these: they are in hand here, though a clock that jumped says that their lease is over. */
  inHand: number[]
}

interface Which {
  now: number
  /** Begin behind this channel, and go round. */
  after: number
  failing: boolean
  /** Those that have as much in hand as they may. */
  except: number[]
  limit: number
}

/** The next channels that something is due for. */
export async function channelsDue({ read }: Rows, which: Which): Promise<ChannelRow[]> {
  if (which.limit <= 0) return []
  const behind = await channelsBetween(read, which, which.after, Number.MAX_SAFE_INTEGER)
  if (behind.length >= which.limit || which.after === 0) return behind
  const rest = { ...which, limit: which.limit - behind.length }
  return [...behind, ...(await channelsBetween(read, rest, 0, which.after))]
}

/** Steps from channel to channel on the index of what waits: a channel costs the same whether one waits or thousands. */
async function channelsBetween(db: Db, { now, failing, except, limit }: Which, after: number, upTo: number) {
  const { rows } = await sql<ChannelRow>`
    with recursive waiting (channel_id) as (
      select min(channel_id) from deliveries where status = 'waiting' and channel_id > ${after}
      union all
      select (select min(channel_id) from deliveries
        where status = 'waiting' and channel_id > waiting.channel_id)
      from waiting where channel_id is not null and channel_id <= ${upTo}
    )
    select c.* from waiting cross join channels c
    where c.id = waiting.channel_id and c.id <= ${upTo} and c.enabled = 1
      and c.failing_since is ${sql.raw(failing ? 'not null' : 'null')}
      and (c.paused_until is null or c.paused_until <= ${now})
      and c.id not in (${sql.join([0, ...except])})
      and exists (select 1 from deliveries d
        where d.channel_id = c.id and d.status = 'waiting' and d.due_at <= ${now}
          and (d.leased_until is null or d.leased_until <= ${now}))
    limit ${limit}`.execute(db)
  return rows
}

interface Due {
  id: number
  workspace_id: number
  channel_id: number
  submission_id: number | null
  event: string
  message_id: string
  attempts: number
  leased_until: number | null
}

/**
 * Counts the attempt before it is made: one that ends the process is not made for ever. What another process took and
 * did not bring back in time is taken over.
 */
export function claim(rows: Rows, turns: Turn[], now: number, leaseMs = LEASE_MS): Promise<Claim[]> {
  return rows.write(async (db) => {
    const due = await dueOf(db, rows.engine, turns, now)
    if (due.length === 0) return []
    await noteInterrupted(db, due, leaseMs)
    const spent = due.filter(({ attempts }) => attempts >= ATTEMPTS_MAX)
    if (spent.length > 0) await giveUp(db, spent, now)
    const taken = due.filter(({ attempts }) => attempts < ATTEMPTS_MAX)
    if (taken.length === 0) return []
    await sql`update deliveries set attempts = attempts + 1, leased_until = ${now + leaseMs}
      where id in (${sql.join(taken.map(({ id }) => id))})`.execute(db)
    const channels = new Map(turns.map(({ channel }) => [channel.id, channel]))
    return taken.map((row) => ({
      id: row.id,
      workspaceId: row.workspace_id,
      submissionId: row.submission_id,
      event: row.event,
      messageId: row.message_id,
      attempts: row.attempts + 1,
      channel: channels.get(row.channel_id) as ChannelRow,
    }))
  })
}

/** The longest due of each channel, in one statement. */
async function dueOf(db: Db, engine: Engine, turns: Turn[], now: number): Promise<Due[]> {
  if (turns.length === 0) return []
  // Of two processes that ask at once, the second passes over what the first has in hand.
  const locking = engine === 'postgres' ? sql`for update skip locked` : sql``
  const part = ({ channel, most, inHand }: Turn, i: number): RawBuilder<Due> => sql`
    select * from (
      select id, workspace_id, channel_id, submission_id, event, message_id, attempts, leased_until
      from deliveries
      where channel_id = ${channel.id} and status = 'waiting' and due_at <= ${now}
        and (leased_until is null or leased_until <= ${now}) and id not in (${sql.join([0, ...inHand])})
      order by due_at, id limit ${most} ${locking}
    ) as ${sql.ref(`of_${i}`)}`
  const { rows } = await sql<Due>`${sql.join(turns.map(part), sql` union all `)}`.execute(db)
  return rows
}

/** Whoever had it before has not said how it ended. */
async function noteInterrupted(db: Db, due: Due[], leaseMs: number) {
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
  if (lost.length > 0) await db.insertInto('delivery_attempts').values(lost).execute()
}

/** Its last attempt was the one that was interrupted. */
async function giveUp(db: Db, spent: Due[], now: number) {
  await sql`update deliveries set status = 'failed', due_at = null, leased_until = null, finished_at = ${now}
    where id in (${sql.join(spent.map(({ id }) => id))})`.execute(db)
}

/** For the one process of an SQLite file, at its start: whoever had something in hand is gone. */
export async function releaseLeases(rows: Rows, now: number): Promise<void> {
  if (rows.engine !== 'sqlite') return
  await rows.write((db) =>
    sql`update deliveries set leased_until = ${now}
      where status = 'waiting' and leased_until > ${now}`.execute(db),
  )
}
