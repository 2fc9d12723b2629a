// Puts the due deliveries of channels with a digest into one delivery, which is then claimed, attempted and repeated as any
// other: it has the message's id, its lease and its attempts. The deliveries in it wait for its end.

import { type RawBuilder, sql } from 'kysely'
import type { Connection } from '../../../storage/database/open-database.ts'
import { prepareText } from '../../../storage/database/prepare-query.ts'
import type { ChannelRow } from '../channels/channel.ts'
import { newMessageId, SUBMISSION_CREATED, SUBMISSION_DIGEST } from '../outbox/enqueue-deliveries.ts'

/** Deliveries in one transaction: with SQLite, a hundred are a few milliseconds of the event loop. */
const SLICE = 100

/**
 * The caller holds the channels (on PostgreSQL, by a lock on their rows), so that no two processes gather for one.
 * @returns the ids of channels for which more is due than one transaction gathers: their digest is not complete
 */
export async function gatherDigests(
  connection: Connection,
  channels: ChannelRow[],
  now: number,
): Promise<Set<number>> {
  const incomplete = new Set<number>()
  for (const channel of channels) {
    if (channel.digest === null) continue
    const due = await listDue(connection, channel.id, now)
    if (due.length === 0) continue
    const digestId =
      (await findOpenDigest(connection, channel)) ?? (await insertDigest(connection, channel, now))
    await connection
      .updateTable('deliveries')
      .set({ digest_id: digestId, due_at: null })
      .where('workspace_id', '=', channel.workspace_id)
      .where('id', 'in', due)
      .execute()
    if (due.length === SLICE) incomplete.add(channel.id)
  }
  return incomplete
}

/**
 * A delivery that was attempted before the digest was turned on stays alone: a receiver may have it. So does one that a
 * person has asked for.
 */
async function listDue(connection: Connection, channelId: number, now: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from deliveries
    where channel_id = ${channelId} and status = 'waiting' and due_at <= ${now} and event = ${SUBMISSION_CREATED}
      and attempts = 0 and attempts_before = 0 and digest_id is null and sent_alone = 0
    order by due_at, id limit ${SLICE}`.execute(connection)
  return rows.map(({ id }) => id)
}

/** A digest that nobody can have received yet. */
async function findOpenDigest(connection: Connection, channel: ChannelRow): Promise<number | undefined> {
  const open = await connection
    .selectFrom('deliveries')
    .select('id')
    .where('workspace_id', '=', channel.workspace_id)
    .where('channel_id', '=', channel.id)
    .where('status', '=', 'waiting')
    .where('event', '=', SUBMISSION_DIGEST)
    .where('attempts', '=', 0)
    .where('attempts_before', '=', 0)
    .where('due_at', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return open?.id
}

async function insertDigest(connection: Connection, channel: ChannelRow, now: number): Promise<number> {
  const { id } = await connection
    .insertInto('deliveries')
    .values({
      workspace_id: channel.workspace_id,
      channel_id: channel.id,
      submission_id: null,
      event: SUBMISSION_DIGEST,
      message_id: newMessageId(),
      status: 'waiting',
      due_at: now,
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/**
 * Ends deliveries as their digest has ended: at most a slice, so that no transaction is long. After a kill in
 * between, the next process goes on.
 * @returns whether there may be more
 */
export async function settleDigests(connection: Connection): Promise<boolean> {
  for (const digest of await listEndedDigests(connection, {})) {
    const { rows } = await sql<{ id: number }>`
      update deliveries set status = ${digest.status}, finished_at = ${digest.finished_at},
        last_error = ${digest.last_error}, due_at = null
      where id in (
        select id from deliveries
        where digest_id = ${digest.id} and digest_id is not null and status = 'waiting' and sent_alone = 0
        order by id limit ${SLICE}
      ) returning id`.execute(connection)
    if (rows.length > 0) return true
  }
  return false
}

interface EndedDigest {
  id: number
  status: string
  finished_at: number | null
  last_error: string | null
}

const NEXT_DIGEST = (after: RawBuilder<unknown>) => sql`select min(digest_id) from deliveries
  where status = 'waiting' and digest_id is not null and digest_id > ${after}`

/** The digests that have ended and that a delivery waits for. Steps on the index from digest to digest. */
const listEndedDigests = prepareText(
  () => sql<EndedDigest>`
    with recursive waiting (digest_id) as (
      ${NEXT_DIGEST(sql`0`)}
      union all
      select (${NEXT_DIGEST(sql`waiting.digest_id`)}) from waiting where waiting.digest_id is not null
    )
    select d.id, d.status, d.finished_at, d.last_error from waiting cross join deliveries d
    where d.id = waiting.digest_id and d.event = ${SUBMISSION_DIGEST} and d.status <> 'waiting'
    limit 10`,
)
