// The content of notifications that are not about a submission: a test of a channel, an alert of a view, and events of the
// workspace.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { ChannelRow } from '../channels/channel.ts'
import type { AlertContent, NoticeContent } from '../channels/contract.ts'
import { VIEW_ALERT } from '../outbox/enqueue-deliveries.ts'

interface NewNotice {
  /** What it is about. */
  name: string
  at: number
  fields: Map<string, string>
  /** The page of the dashboard about it. */
  url: string
  /** The data of a webhook. */
  json: string
}

export const createNotice = ({ name, at, fields, url, json }: NewNotice): NoticeContent => ({
  form: { formKey: '', name },
  submissionId: 0,
  number: null,
  createdAt: at,
  fields,
  email: null,
  attribution: '',
  url,
  submissionJson: json,
})

/** Leads to the page where a person changes the channel. */
export const createChannelNotice = (
  { id, workspace_id, name }: Pick<ChannelRow, 'id' | 'workspace_id' | 'name'>,
  origin: string,
  at: number,
  fields: Map<string, string>,
  json: string = JSON.stringify(Object.fromEntries(fields)),
): NoticeContent =>
  createNotice({ name, at, fields, json, url: `${origin}/app/${workspace_id}/notifications?edit=${id}` })

/** The message of the test button. */
export function createTestNotice(channel: ChannelRow, origin: string, at: number): NoticeContent {
  const fields = new Map([
    ['name', 'Ada Lovelace'],
    ['email', 'ada@example.com'],
    ['message', 'This is a test: your channel works.'],
  ])
  const json = JSON.stringify({ test: true, fields: Object.fromEntries(fields) })
  return createChannelNotice(channel, origin, at, fields, json)
}

/**
 * What the transaction that made the event has stored: all attempts and all channels say the same.
 * @returns undefined where it is no longer kept
 */
export async function findEventNotice(
  connection: Connection,
  {
    id,
    workspaceId,
    event,
    channel,
  }: { id: number; workspaceId: number; event: string; channel: ChannelRow },
  origin: string,
): Promise<NoticeContent | undefined> {
  const row = await connection
    .selectFrom('deliveries')
    .select(['payload', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row || row.payload === null) return undefined
  const { payload: json, created_at: at } = row
  if (event !== VIEW_ALERT) return createChannelNotice(channel, origin, at, new Map(), json)
  const { name, url, reason, period, timezone, links = [], count }: AlertContent = JSON.parse(json)
  const shown = [...links.map(({ shortUrl }) => shortUrl), ...(count > links.length ? ['…'] : [])]
  const about = links.length > 0 ? ['Links', shown.join('\n')] : ['Hours', `${period} (${timezone})`]
  return createNotice({
    name,
    at,
    url,
    json,
    fields: new Map([['Reason', reason], about as [string, string]]),
  })
}
