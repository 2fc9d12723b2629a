// Finds the reply of a member that a delivery sends.

import { sql } from 'kysely'
import type { Connection } from '../../../storage/database/open-database.ts'

/** As it is sent: the member's text, and the address for answers. */
export const findTeamReply = (
  connection: Connection,
  by: { workspaceId: number; submissionId: number; messageId: string },
) =>
  connection
    .selectFrom('team_replies')
    .select(['subject', 'text', 'reply_to'])
    .where(sql<boolean>`+workspace_id = ${by.workspaceId}`)
    .where('submission_id', '=', by.submissionId)
    .where('message_id', '=', by.messageId)
    .executeTakeFirst()
