// Writes down what is to be delivered, in the transaction of what it tells of: either both are there or neither.

import type { Insertable } from 'kysely'
import { randomBase62 } from '../../../lib/random.ts'
import type { Connection, DatabaseEngine } from '../../../storage/database/open-database.ts'
import type { Deliveries } from '../../../storage/database/tables.ts'

export interface NewDeliveries {
  workspaceId: number
  submissionId: number
  /** Those of the form; what is switched off or gone is passed over. */
  channelIds: number[]
  at: number
}

/** As long as a UUID is unlikely to be the same: 62^22 > 2^128. */
export const newMessageId = () => `msg_${randomBase62(22)}`

/** @returns how many; the deliverer is to be woken when they are committed */
export async function enqueueDeliveries(
  connection: Connection,
  engine: DatabaseEngine,
  { workspaceId, submissionId, channelIds, at }: NewDeliveries,
): Promise<number> {
  if (channelIds.length === 0) return 0
  const ready = connection
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', channelIds)
    .where('enabled', '=', 1)
    .orderBy('id')
  // Held until the commit: a channel that is deleted in the same moment would take the submission down with it.
  const channels = await (engine === 'postgres' ? ready.forKeyShare() : ready).execute()
  if (channels.length === 0) return 0
  const told = { workspace_id: workspaceId, submission_id: submissionId, event: 'submission.created' }
  await insertDeliveries(
    connection,
    channels.map(({ id }) => ({ ...told, channel_id: id })),
    at,
  )
  return channels.length
}

/** What tells a workspace's owners that a channel was switched off; it is a delivery of that channel. */
export const CHANNEL_DISABLED = 'channel.disabled'

export const enqueueChannelDisabledNotice = (
  connection: Connection,
  workspaceId: number,
  channelId: number,
  at: number,
): Promise<void> =>
  insertDeliveries(
    connection,
    [{ workspace_id: workspaceId, submission_id: null, event: CHANNEL_DISABLED, channel_id: channelId }],
    at,
  )

type NewDelivery = Pick<Insertable<Deliveries>, 'workspace_id' | 'submission_id' | 'event' | 'channel_id'>

async function insertDeliveries(
  connection: Connection,
  deliveries: NewDelivery[],
  at: number,
): Promise<void> {
  const waiting = { status: 'waiting', due_at: at, created_at: at }
  await connection
    .insertInto('deliveries')
    .values(deliveries.map((one) => ({ ...one, ...waiting, message_id: newMessageId() })))
    .execute()
}
