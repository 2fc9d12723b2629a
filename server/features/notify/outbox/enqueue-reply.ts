// Stores the delivery of a reply to a sender. Replies of a workspace belong to a hidden channel of its own, so that leases,
// retries and fairness are those of all deliveries. Nobody sees or names the channel, and no failure disables it.

import type { Connection } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import { insertDeliveries } from './enqueue-deliveries.ts'

export const REPLY_CHANNEL = 'reply'

/** `reply` answers a submission. `confirm` asks its sender to confirm it. */
export const REPLY_EVENTS = ['reply', 'confirm'] as const
export type ReplyEvent = (typeof REPLY_EVENTS)[number]

export const isReplyEvent = (event: string): event is ReplyEvent =>
  (REPLY_EVENTS as readonly string[]).includes(event)

export interface NewReply {
  workspaceId: number
  submissionId: number
  event: ReplyEvent
  at: number
}

/** The caller must wake the deliverer after the commit. */
export async function enqueueReply(
  connection: Connection,
  { workspaceId, submissionId, event, at }: NewReply,
): Promise<void> {
  const [known] = await selectReplyChannel(connection, { workspaceId })
  const channelId = known?.id ?? (await createReplyChannel(connection, workspaceId, at))
  await insertDeliveries(
    connection,
    [{ workspace_id: workspaceId, submission_id: submissionId, event, channel_id: channelId }],
    at,
  )
}

const selectReplyChannel = prepareQuery((connection, { workspaceId }: { workspaceId: number }) =>
  connection
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('type', '=', REPLY_CHANNEL),
)

async function createReplyChannel(connection: Connection, workspaceId: number, at: number): Promise<number> {
  await connection
    .insertInto('channels')
    .values({
      workspace_id: workspaceId,
      type: REPLY_CHANNEL,
      name: 'Replies to senders',
      created_at: at,
      updated_at: at,
    })
    // Another transaction has made it in the meantime.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const [channel] = await selectReplyChannel(connection, { workspaceId })
  return (channel as { id: number }).id
}
