// Lists the replies of the team to the sender of a submission, oldest first.

import { sql } from 'kysely'
import { toIso } from '../../../lib/iso-time.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { type TeamReplyResource, toReplyStatus } from './schema.ts'

/** The caller has looked whether the submission exists. */
export async function listTeamReplies(
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  submissionIds: readonly number[],
): Promise<TeamReplyResource[]> {
  const rows = await connection
    .selectFrom('team_replies')
    .leftJoin('deliveries', (join) =>
      join
        .onRef('deliveries.submission_id', '=', 'team_replies.submission_id')
        .onRef('deliveries.workspace_id', '=', 'team_replies.workspace_id')
        .onRef('deliveries.message_id', '=', 'team_replies.message_id'),
    )
    .select([
      'team_replies.id',
      'team_replies.submission_id',
      'team_replies.status',
      'team_replies.author',
      'team_replies.subject',
      'team_replies.text',
      'team_replies.created_at',
      'deliveries.status as delivery_status',
      'deliveries.last_error',
    ])
    .where(sql<boolean>`+team_replies.workspace_id = ${workspaceId}`)
    .where('team_replies.submission_id', 'in', submissionIds)
    .orderBy('team_replies.id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    submissionId: row.submission_id,
    author: row.author,
    subject: row.subject,
    text: row.text,
    // Deletes a delivery that must no longer be sent.
    status: toReplyStatus(row.delivery_status ?? row.status ?? 'canceled'),
    error: row.last_error,
    createdAt: toIso(row.created_at),
  }))
}
