// The notices to a workspace's owners about a channel: Towpath has disabled it, or it falls behind. Their contents and
// recipients.

import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { ChannelRow } from '../channels/channel.ts'
import type { NoticeContent, SendNeeds } from '../channels/contract.ts'
import { createChannelNotice } from '../content/notice-content.ts'
import { SUBMISSION_CREATED } from '../outbox/enqueue-deliveries.ts'
import { COUNTED_MAX, countWaiting } from '../outbox/waiting-deliveries.ts'
import { pickRecipients, readRecipientStates } from '../recipients/recipient-states.ts'

export interface NoticeRecipientNeeds {
  db: Database
  send: Pick<SendNeeds, 'smtpUrl'>
  /** The email addresses of a workspace's owners. */
  ownerEmails: (workspaceId: number) => Promise<string[]>
}

/** @returns undefined when the channel is enabled again, or deleted */
export async function findChannelDisabledContent(
  connection: Connection,
  channel: ChannelRow,
  origin: string,
  at: number,
): Promise<NoticeContent | undefined> {
  const { id, workspace_id, type } = channel
  const disabled = await connection
    .selectFrom('channels')
    .select(['name', 'disabled_reason'])
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('enabled', '=', 0)
    .executeTakeFirst()
  if (!disabled?.disabled_reason) return undefined
  const { waiting } = await connection
    .selectFrom('deliveries')
    .select((e) => e.fn.countAll<number>().as('waiting'))
    .where('workspace_id', '=', workspace_id)
    .where('channel_id', '=', id)
    .where('status', '=', 'waiting')
    .where('event', '=', SUBMISSION_CREATED)
    .executeTakeFirstOrThrow()
  const fields = new Map([
    ['Channel', nameChannel({ name: disabled.name, type })],
    ['Why', disabled.disabled_reason],
    ['What to do next', describeNextStep(waiting)],
  ])
  return createChannelNotice({ ...channel, name: disabled.name }, origin, at, fields)
}

const nameChannel = ({ name, type }: Pick<ChannelRow, 'name' | 'type'>) =>
  `${name} (${TYPE_NAMES[type] ?? type})`

const TYPE_NAMES: Record<string, string> = {
  email: 'email',
  slack: 'Slack',
  discord: 'Discord',
  telegram: 'Telegram',
  teams: 'Microsoft Teams',
  webhook: 'webhook',
}

function describeNextStep(waiting: number): string {
  const again = 'Submissions are still stored. Once the cause is fixed, turn the channel on again'
  if (waiting === 0) return `${again}.`
  return waiting === 1
    ? `${again}: then the waiting notification is sent.`
    : `${again}: the ${waiting} notifications that wait for it are sent.`
}

/** @returns undefined when the channel has caught up, or is gone */
export async function findChannelBehindContent(
  connection: Connection,
  channel: ChannelRow,
  origin: string,
  at: number,
): Promise<NoticeContent | undefined> {
  const { id, workspace_id } = channel
  const behind = await connection
    .selectFrom('channels')
    .select(['name', 'type', 'failing_since', 'last_error'])
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('enabled', '=', 1)
    .where('behind_since', 'is not', null)
    .executeTakeFirst()
  const waiting = (await countWaiting(connection, [id], at)).get(id)
  if (!behind || !waiting?.oldest) return undefined
  const since = new Date(waiting.oldest).toISOString().slice(0, 16).replace('T', ' ')
  const count = waiting.waiting >= COUNTED_MAX ? `More than ${COUNTED_MAX}` : String(waiting.waiting)
  const fields = new Map([
    ['Channel', nameChannel(behind)],
    ['Waiting', `${count} notifications, the oldest since ${since} UTC`],
    ['Why', behind.failing_since === null ? SLOW : `The last attempt failed: ${behind.last_error}`],
    [
      'What to do next',
      'Every submission is stored and in the inbox. Waiting notifications are sent as fast as the receiver ' +
        'accepts them. Make the receiver faster, or let fewer forms use the channel.',
    ],
  ])
  return createChannelNotice({ ...channel, name: behind.name }, origin, at, fields)
}

const SLOW = 'Notifications arrive faster than the receiver accepts them'

/**
 * The owners. In a workspace without people, the recipients of its email channels who have confirmed. Nobody where the operator has set
 * up no mail server.
 */
export async function listNoticeRecipients(
  { db, send, ownerEmails }: NoticeRecipientNeeds,
  workspaceId: number,
): Promise<string[]> {
  if (!send.smtpUrl) return []
  const owners = await ownerEmails(workspaceId)
  if (owners.length > 0) return owners
  const channels = await db.read
    .selectFrom('channels')
    .select('recipients')
    .where('workspace_id', '=', workspaceId)
    .where('type', '=', 'email')
    .where('enabled', '=', 1)
    .execute()
  const addresses = [...new Set(channels.flatMap(({ recipients }) => JSON.parse(recipients) as string[]))]
  return pickRecipients(await readRecipientStates(db.read, workspaceId, addresses), 'confirmed')
}
