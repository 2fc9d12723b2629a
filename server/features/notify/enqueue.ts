// Writes down what is to be delivered, in the transaction of what it tells of: either both are there or neither.

import { randomBase62 } from '../../lib/random.ts'
import type { Db, Engine } from '../../storage/rows/open.ts'

export interface Enqueued {
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
  db: Db,
  engine: Engine,
  { workspaceId, submissionId, channelIds, at }: Enqueued,
): Promise<number> {
  if (channelIds.length === 0) return 0
  const ready = db
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', channelIds)
    .where('enabled', '=', 1)
    .orderBy('id')
  // Held until the commit: a channel that is deleted in the same moment would take the submission down with it.
  const channels = await (engine === 'postgres' ? ready.forKeyShare() : ready).execute()
  if (channels.length === 0) return 0
  const row = {
    workspace_id: workspaceId,
    submission_id: submissionId,
    event: 'submission.created',
    status: 'waiting',
    due_at: at,
    created_at: at,
  }
  await db
    .insertInto('deliveries')
    .values(channels.map(({ id }) => ({ ...row, channel_id: id, message_id: newMessageId() })))
    .execute()
  return channels.length
}

/** Tells the workspace's people, by its e-mail channels, that another channel was switched off. */
export async function enqueueWord(db: Db, workspaceId: number, about: number, at: number): Promise<number> {
  const channels = await db
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('type', '=', 'email')
    .where('enabled', '=', 1)
    .where('id', '<>', about)
    .execute()
  if (channels.length === 0) return 0
  const row = {
    workspace_id: workspaceId,
    submission_id: null,
    event: 'channel.disabled',
    status: 'waiting',
    due_at: at,
    created_at: at,
  }
  await db
    .insertInto('deliveries')
    .values(channels.map(({ id }) => ({ ...row, channel_id: id, message_id: newMessageId() })))
    .execute()
  return channels.length
}
