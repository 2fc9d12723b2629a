// The content of notifications about a channel and not about a submission.

import type { ChannelRow } from '../channels/channel.ts'
import type { NoticeContent } from '../channels/contract.ts'

/** The address of the page where a person changes the channel. */
const toChannelPage = (origin: string, { id, workspace_id }: Pick<ChannelRow, 'id' | 'workspace_id'>) =>
  `${origin}/app/${workspace_id}/notifications?edit=${id}`

/** @param details.json the data of a webhook */
export const createChannelContent = (
  channel: Pick<ChannelRow, 'id' | 'workspace_id' | 'name'>,
  { origin, at, fields, json }: { origin: string; at: number; fields: Map<string, string>; json: object },
): NoticeContent => ({
  form: { formKey: '', name: channel.name },
  submissionId: 0,
  number: null,
  createdAt: at,
  fields,
  email: null,
  attribution: '',
  url: toChannelPage(origin, channel),
  submissionJson: JSON.stringify(json),
})

/** The message of the test button. */
export function createTestContent(channel: ChannelRow, origin: string, at: number): NoticeContent {
  const fields = new Map([
    ['name', 'Ada Lovelace'],
    ['email', 'ada@example.com'],
    ['message', 'This is a test: your channel works.'],
  ])
  const json = { test: true, fields: Object.fromEntries(fields) }
  return createChannelContent(channel, { origin, at, fields, json })
}
