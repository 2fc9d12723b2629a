// The content of a delivery that is not about a submission: what the transaction that made the event has stored.

import type { Connection } from '../../../storage/database/open-database.ts'
import type { NoticeContent } from '../channels/contract.ts'
import type { Claim } from './claim-deliveries.ts'
import { createChannelContent } from './notice-content.ts'

/** @returns undefined where it is no longer kept */
export async function findEventContent(
  connection: Connection,
  { id, workspaceId, channel }: Pick<Claim, 'id' | 'workspaceId' | 'channel'>,
  origin: string,
): Promise<NoticeContent | undefined> {
  const row = await connection
    .selectFrom('deliveries')
    .select(['payload', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row || row.payload === null) return undefined
  const about = { origin, at: row.created_at, fields: new Map<string, string>(), json: {} }
  return { ...createChannelContent(channel, about), submissionJson: row.payload }
}
