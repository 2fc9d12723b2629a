// Stores deliveries in the transaction that stores their reason (a transactional outbox): both exist, or neither.

import { type Insertable, sql } from 'kysely'
import { randomBase62, toBase62 } from '../../../lib/crypto/random.ts'
import { findRequest } from '../../../lib/telemetry/request-context.ts'
import type { Connection, DatabaseEngine } from '../../../storage/database/open-database.ts'
import { isOneOf, prepareInserts, prepareQuery } from '../../../storage/database/prepare-query.ts'
import type { Deliveries } from '../../../storage/database/tables/notify-tables.ts'
import { parseChannelEvents, SUBMISSION_EVENT } from '../events/channel-events.ts'
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
  const enabled = await readEnabled(connection, engine, workspaceId, channelIds)
  const channels = enabled.filter((channel) => parseChannelEvents(channel).includes(SUBMISSION_CREATED))
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

const selectChannels = (connection: Connection, workspaceId: number) =>
  connection
    .selectFrom('channels')
    .select(['id', 'digest', 'quiet_hours', 'events'])
    .where('workspace_id', '=', workspaceId)
    .where('enabled', '=', 1)

const selectChannel = prepareQuery((connection, { workspaceId, id }: { workspaceId: number; id: number }) =>
  selectChannels(connection, workspaceId).where('id', '=', id),
)

/** The lock lasts until the commit: without it, a channel that is deleted at the same moment would fail the submission. */
const lockChannels = prepareQuery(
  (connection, { workspaceId, channelIds }: { workspaceId: number; channelIds: number[] }) =>
    selectChannels(connection, workspaceId)
      .where(isOneOf(connection, 'id', channelIds))
      .orderBy('id')
      .forKeyShare(),
)

/** On SQLite, a look-up of each channel takes a third of the time of a list, which becomes a table first. */
async function readEnabled(
  connection: Connection,
  engine: DatabaseEngine,
  workspaceId: number,
  channelIds: number[],
) {
  if (engine === 'postgres') return lockChannels(connection, { workspaceId, channelIds })
  const channels: Awaited<ReturnType<typeof selectChannel>> = []
  for (const id of channelIds.toSorted((a, b) => a - b))
    channels.push(...(await selectChannel(connection, { workspaceId, id })))
  return channels
}

export const SUBMISSION_CREATED = SUBMISSION_EVENT
/** Its delivery sends those of many submissions in one message. They are delivered, or fail, as it does. */
export const SUBMISSION_DIGEST = 'submission.digest'

/** A report of a view, to the channels that the view names. */
export const VIEW_REPORT = 'view.report'

/** An alert of a view, to the channels that the view names. */
export const VIEW_ALERT = 'view.alert'

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

export type NewDelivery = Pick<
  Insertable<Deliveries>,
  'workspace_id' | 'submission_id' | 'event' | 'channel_id'
> & {
  /** At once when absent. */
  due_at?: number
  /** The data of the event, as JSON. */
  payload?: string
  report_id?: number
  /** A new one when absent. */
  message_id?: string
}

export async function insertDeliveries(
  connection: Connection,
  deliveries: NewDelivery[],
  at: number,
): Promise<void> {
  const request = findRequest()
  const cause = { request_id: request?.id ?? null, traceparent: request?.span?.traceparent ?? null }
  await insertWaiting(
    connection,
    deliveries.map(
      ({ submission_id = null, due_at = at, report_id = null, payload = null, message_id, ...delivery }) => ({
        ...delivery,
        submission_id,
        due_at,
        report_id,
        payload,
        created_at: at,
        ...cause,
        message_id: message_id ?? newMessageId(),
      }),
    ),
  )
}

type WaitingDelivery = Omit<Insertable<Deliveries>, 'status' | 'id'>

const insertWaiting = prepareInserts((connection, rows: WaitingDelivery[]) =>
  connection.insertInto('deliveries').values(rows.map((row) => ({ ...row, status: 'waiting' }))),
)
