// Stores the delivery of a reply to a sender. Replies of a workspace belong to a hidden channel, and confirmations to another
// one, so that leases, retries and fairness are those of all deliveries. Nobody sees or names these channels.

import type { Connection } from '../../../storage/database/open-database.ts'
import { prepareQuery } from '../../../storage/database/prepare-query.ts'
import { insertDeliveries } from './enqueue-deliveries.ts'

export const REPLY_CHANNEL = 'reply'

/** `reply` answers a submission. `confirm` asks its sender to confirm it. A member has written a `team_reply`. */
export const REPLY_EVENTS = ['reply', 'confirm', 'team_reply'] as const
export type ReplyEvent = (typeof REPLY_EVENTS)[number]

export const isReplyEvent = (event: string): event is ReplyEvent =>
  (REPLY_EVENTS as readonly string[]).includes(event)

/** A channel waits as a whole, and neither confirmations nor replies of the team must wait with automatic ones. */
const CHANNEL_NAMES: Record<ReplyEvent, string> = {
  reply: 'Replies to senders',
  confirm: 'Confirmations of senders',
  team_reply: 'Replies of the team',
}

export interface NewReply {
  workspaceId: number
  submissionId: number
  event: ReplyEvent
  at: number
  /** Names the mail that a member has written. */
  messageId?: string
}

/** The caller must wake the deliverer after the commit. */
export async function enqueueReply(
  connection: Connection,
  { workspaceId, submissionId, event, at, messageId }: NewReply,
): Promise<void> {
  const channel = { workspaceId, name: CHANNEL_NAMES[event] }
  const [known] = await selectReplyChannel(connection, channel)
  const channelId = known?.id ?? (await createReplyChannel(connection, channel, at))
  await insertDeliveries(
    connection,
    [
      {
        workspace_id: workspaceId,
        submission_id: submissionId,
        event,
        channel_id: channelId,
        message_id: messageId,
      },
    ],
    at,
  )
}

interface ReplyChannel extends Record<string, unknown> {
  workspaceId: number
  name: string
}

const selectReplyChannel = prepareQuery((connection, { workspaceId, name }: ReplyChannel) =>
  connection
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('type', '=', REPLY_CHANNEL)
    .where('name', '=', name),
)

async function createReplyChannel(connection: Connection, named: ReplyChannel, at: number): Promise<number> {
  await connection
    .insertInto('channels')
    .values({
      workspace_id: named.workspaceId,
      type: REPLY_CHANNEL,
      name: named.name,
      created_at: at,
      updated_at: at,
    })
    // Another transaction has made it in the meantime.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const [channel] = await selectReplyChannel(connection, named)
  return (channel as { id: number }).id
}
