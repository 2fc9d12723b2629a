// The content of a delivery that is not about a submission: what the transaction that made the event has stored.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { NoticeContent } from '../channels/contract.ts'
import { toAlertNotice } from '../content/alert-content.ts'
import { VIEW_ALERT } from '../outbox/enqueue-deliveries.ts'
import type { Claim } from './claim-deliveries.ts'
import { createChannelContent } from './notice-content.ts'

/** @returns undefined where it is no longer kept */
export async function findEventContent(
  connection: Connection,
  { id, workspaceId, event, channel }: Pick<Claim, 'id' | 'workspaceId' | 'event' | 'channel'>,
  origin: string,
): Promise<NoticeContent | undefined> {
  const row = await connection
    .selectFrom('deliveries')
    .select(['payload', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row || row.payload === null) return undefined
  if (event === VIEW_ALERT) return toAlertNotice({ payload: row.payload, createdAt: row.created_at })
  const about = { origin, at: row.created_at, fields: new Map<string, string>(), json: {} }
  return { ...createChannelContent(channel, about), submissionJson: row.payload }
}
