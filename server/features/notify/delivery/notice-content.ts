// What a delivery has to say. That is looked up when it is said: of a submission that was deleted since, nothing is.

import type { ChannelRow } from '../channels/channel.ts'
import type { ChannelDestination, Notice } from '../channels/contract.ts'
import { type Sealing, toChannelSecrets } from '../channels/secrets.ts'

export type NoticeContent = Omit<Notice, 'event' | 'messageId' | 'at'>

/** A submission as channels tell of it, with all decided that can be; undefined when it is gone. */
export type SubmissionContentReader = (
  workspaceId: number,
  submissionId: number,
) => Promise<NoticeContent | undefined>

export function toChannelDestination(sealing: Sealing, channel: ChannelRow, at: number): ChannelDestination {
  const { id, workspace_id, name, recipients, chat_id, sealed } = channel
  const secrets = sealed === null ? {} : sealing.open(sealed, { workspaceId: workspace_id, channelId: id })
  return { name, recipients: JSON.parse(recipients), chatId: chat_id, secrets: toChannelSecrets(secrets, at) }
}

/** Where a person changes it. */
const channelPage = (origin: string, { id, workspace_id }: Pick<ChannelRow, 'id' | 'workspace_id'>) =>
  `${origin}/app/${workspace_id}/channels?edit=${id}`

/** What tells of a channel itself, and of no submission. @param json what a webhook gets */
export const createChannelContent = (
  channel: Pick<ChannelRow, 'id' | 'workspace_id' | 'name'>,
  { origin, at, fields, json }: { origin: string; at: number; fields: Map<string, string>; json: object },
): NoticeContent => ({
  form: { formKey: '', name: channel.name },
  submissionId: 0,
  createdAt: at,
  fields,
  email: null,
  attribution: '',
  url: channelPage(origin, channel),
  submissionJson: JSON.stringify(json),
})

/** What the test button sends. */
export function createTestContent(channel: ChannelRow, origin: string, at: number): NoticeContent {
  const fields = new Map([
    ['name', 'Ada Lovelace'],
    ['email', 'ada@example.com'],
    ['message', 'This is a test: your channel works.'],
  ])
  const json = { test: true, fields: Object.fromEntries(fields) }
  return createChannelContent(channel, { origin, at, fields, json })
}
