// Stores deliveries in the transaction that stores their reason (a transactional outbox): both exist, or neither.

import { type Insertable, sql } from 'kysely'
import { randomBase62, toBase62 } from '../../../lib/crypto/random.ts'
import { findRequest } from '../../../lib/telemetry/request-context.ts'
import type { Connection, DatabaseEngine } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { Deliveries } from '../../../storage/database/tables/notify-tables.ts'
import { planDelivery, readTiming } from '../timing/plan-delivery.ts'

export interface NewDeliveries {
  workspaceId: number
  submissionId: number
  /** The channels of the form. Disabled and deleted channels are skipped. */
  channelIds: number[]
  at: number
}

/** The time comes first: ids of one time stand beside each other in their index. 15 more characters hold 89 random bits. */
export const newMessageId = () => `msg_${toBase62(Date.now(), 7)}${randomBase62(15)}`

/** @returns how many were stored. The caller must wake the deliverer after the commit. */
export async function enqueueDeliveries(
  connection: Connection,
  engine: DatabaseEngine,
  { workspaceId, submissionId, channelIds, at }: NewDeliveries,
): Promise<number> {
  if (channelIds.length === 0) return 0
  const ids = Object.fromEntries(channelIds.map((id, n) => [`id${n}`, id]))
  const channels = await selectEnabled(engine, channelIds.length)(connection, { ...ids, workspaceId })
  if (channels.length === 0) return 0
  const event = { workspace_id: workspaceId, submission_id: submissionId, event: SUBMISSION_CREATED }
  await insertDeliveries(
    connection,
    channels.map((channel) => ({
      ...event,
      channel_id: channel.id,
      due_at: planDelivery(readTiming(channel), at),
    })),
    at,
  )
  return channels.length
}

/** Each count of rows is a statement of its own. */
const prepareByCount = <T>(prepare: (count: number) => T) => {
  const prepared: T[] = []
  return (count: number): T => {
    prepared[count] ??= prepare(count)
    return prepared[count]
  }
}

const toList = <T>(count: number, read: (n: number) => T) => Array.from({ length: count }, (_, n) => read(n))

const prepareEnabled = (engine: DatabaseEngine) =>
  prepareByCount((count) =>
    prepareQuery((connection, values: Record<string, number>) => {
      const enabled = connection
        .selectFrom('channels')
        .select(['id', 'digest', 'quiet_hours'])
        .where('workspace_id', '=', values.workspaceId as number)
        .where(
          'id',
          'in',
          toList(count, (n) => values[`id${n}`] as number),
        )
        .where('enabled', '=', 1)
        .orderBy('id')
      // The lock lasts until the commit: without it, a channel that is deleted at the same moment would fail the submission.
      return engine === 'postgres' ? enabled.forKeyShare() : enabled
    }),
  )
const ENABLED = { sqlite: prepareEnabled('sqlite'), postgres: prepareEnabled('postgres') }
const selectEnabled = (engine: DatabaseEngine, count: number) => ENABLED[engine](count)

export const SUBMISSION_CREATED = 'submission.created'
/** Its delivery sends those of many submissions in one message. They are delivered, or fail, as it does. */
export const SUBMISSION_DIGEST = 'submission.digest'

/** The events that tell a workspace's owners about a channel. Their deliveries belong to that channel. */
export const CHANNEL_DISABLED = 'channel.disabled'
export const CHANNEL_BEHIND = 'channel.behind'

/** In the words of the index `deliveries_notices`, so that SQLite uses it. */
export const IS_OWNER_NOTICE = sql<boolean>`event in (${sql.lit(CHANNEL_DISABLED)}, ${sql.lit(CHANNEL_BEHIND)})`

export const isOwnerNotice = (event: string): boolean =>
  event === CHANNEL_DISABLED || event === CHANNEL_BEHIND

export const enqueueOwnerNotice = (
  connection: Connection,
  event: typeof CHANNEL_DISABLED | typeof CHANNEL_BEHIND,
  { workspaceId, channelId, at }: { workspaceId: number; channelId: number; at: number },
): Promise<void> =>
  insertDeliveries(
    connection,
    [{ workspace_id: workspaceId, submission_id: null, event, channel_id: channelId }],
    at,
  )

type NewDelivery = Pick<Insertable<Deliveries>, 'workspace_id' | 'submission_id' | 'event' | 'channel_id'> & {
  /** At once when absent. */
  due_at?: number
}

export async function insertDeliveries(
  connection: Connection,
  deliveries: NewDelivery[],
  at: number,
): Promise<void> {
  const request = findRequest()
  const values: Record<string, string | number | null> = {
    at,
    requestId: request?.id ?? null,
    traceparent: request?.span?.traceparent ?? null,
  }
  for (const [n, { workspace_id, channel_id, submission_id, event, due_at = at }] of deliveries.entries())
    Object.assign(values, {
      [`workspace${n}`]: workspace_id,
      [`channel${n}`]: channel_id,
      [`submission${n}`]: submission_id ?? null,
      [`event${n}`]: event,
      [`due${n}`]: due_at,
      [`message${n}`]: newMessageId(),
    })
  await insertWaiting(deliveries.length)(connection, values)
}

const insertWaiting = prepareByCount((count) =>
  prepareQuery((connection, values: Record<string, string | number | null>) =>
    connection.insertInto('deliveries').values(
      toList(count, (n) => ({
        workspace_id: values[`workspace${n}`] as number,
        channel_id: values[`channel${n}`] as number,
        submission_id: values[`submission${n}`] as number | null,
        event: values[`event${n}`] as string,
        message_id: values[`message${n}`] as string,
        due_at: values[`due${n}`] as number,
        status: 'waiting',
        created_at: values.at as number,
        request_id: values.requestId as string | null,
        traceparent: values.traceparent as string | null,
      })),
    ),
  ),
)
