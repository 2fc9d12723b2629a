// What a delivery has to say. That is looked up when it is said: of a submission that was deleted since, nothing is.

import type { Db } from '../../storage/rows/open.ts'
import type { ChannelRow } from './channel.ts'
import type { Destination, Notice } from './notice.ts'
import { type Sealing, secretsAt } from './secrets.ts'

export type Content = Omit<Notice, 'event' | 'messageId' | 'at'>

/** A submission as channels tell of it, with all decided that can be; undefined when it is gone. */
export type ReadSubmission = (workspaceId: number, submissionId: number) => Promise<Content | undefined>

export function destinationOf(sealing: Sealing, channel: ChannelRow, at: number): Destination {
  const { id, workspace_id, name, recipients, chat_id, sealed } = channel
  const secrets = sealed === null ? {} : sealing.open(sealed, { workspaceId: workspace_id, channelId: id })
  return { name, recipients: JSON.parse(recipients), chatId: chat_id, secrets: secretsAt(secrets, at) }
}

/** What the test button sends. */
export function testContent(channel: ChannelRow, origin: string, at: number): Content {
  const fields = new Map([
    ['name', 'Ada Lovelace'],
    ['email', 'ada@example.com'],
    ['message', 'This is a test: your channel works.'],
  ])
  return {
    form: { formKey: '', name: channel.name },
    submissionId: 0,
    createdAt: at,
    fields,
    email: null,
    attribution: '',
    url: `${origin}/app/channels`,
    submissionJson: JSON.stringify({ test: true, fields: Object.fromEntries(fields) }),
  }
}

/** The channels of a workspace that were switched off by themselves and are so still; undefined when none is. */
export async function disabledContent(
  db: Db,
  workspaceId: number,
  origin: string,
  at: number,
): Promise<Content | undefined> {
  const found = await db
    .selectFrom('channels')
    .select(['id', 'type', 'name', 'disabled_reason as reason'])
    .where('workspace_id', '=', workspaceId)
    .where('enabled', '=', 0)
    .where('disabled_reason', 'is not', null)
    .orderBy('id')
    .execute()
  const [first, ...others] = found
  if (!first) return undefined
  const name = others.length === 0 ? first.name : `${first.name} and ${others.length} more`
  const fields = new Map(
    found.map(({ id, type, name, reason }) => [`${name} (${type}, number ${id})`, reason ?? '']),
  )
  return {
    form: { formKey: '', name },
    submissionId: 0,
    createdAt: at,
    fields,
    email: null,
    attribution: '',
    url: `${origin}/app/channels`,
    submissionJson: JSON.stringify({ channels: Object.fromEntries(fields) }),
  }
}
