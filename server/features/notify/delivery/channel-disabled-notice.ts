// What the owners of a workspace are told of a channel that was switched off by itself, and who reads it.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { ChannelRow } from '../channels/channel.ts'
import type { AttemptNeeds } from './attempt-delivery.ts'
import { createChannelContent, type NoticeContent } from './notice-content.ts'

/** Undefined when it is on again, or gone. */
export async function findChannelDisabledContent(
  connection: Connection,
  channel: ChannelRow,
  origin: string,
  at: number,
): Promise<NoticeContent | undefined> {
  const { id, workspace_id, type } = channel
  const off = await connection
    .selectFrom('channels')
    .select(['name', 'disabled_reason'])
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .where('enabled', '=', 0)
    .executeTakeFirst()
  if (!off?.disabled_reason) return undefined
  const { kept } = await connection
    .selectFrom('deliveries')
    .select((e) => e.fn.countAll<number>().as('kept'))
    .where('workspace_id', '=', workspace_id)
    .where('channel_id', '=', id)
    .where('status', '=', 'waiting')
    .where('event', '=', 'submission.created')
    .executeTakeFirstOrThrow()
  const fields = new Map([
    ['Channel', `${off.name} (${TYPE_NAMES[type] ?? type})`],
    ['Why', off.disabled_reason],
    ['What now', describeNextStep(kept)],
  ])
  return createChannelContent(
    { ...channel, name: off.name },
    { origin, at, fields, json: Object.fromEntries(fields) },
  )
}

const TYPE_NAMES: Record<string, string> = {
  email: 'e-mail',
  slack: 'Slack',
  discord: 'Discord',
  telegram: 'Telegram',
  teams: 'Microsoft Teams',
  webhook: 'webhook',
}

function describeNextStep(kept: number): string {
  const again = 'Submissions are stored as before. When the cause is gone, switch the channel on again'
  if (kept === 0) return `${again}.`
  return kept === 1
    ? `${again}: the one notification that waits for it is sent then.`
    : `${again}: the ${kept} notifications that wait for it are sent then.`
}

/** The owners; where nobody has an account, whoever is notified by e-mail. Nobody where no mail can be sent. */
export async function listNoticeRecipients(
  { db, send, ownerEmails }: Pick<AttemptNeeds, 'db' | 'send' | 'ownerEmails'>,
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
  return [...new Set(channels.flatMap(({ recipients }) => JSON.parse(recipients) as string[]))]
}
