// Revokes an invitation: its link stops working.

import { notFound } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { type Actor, allow } from '../access/actor.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { InvitationResource } from '../schema.ts'
import { selectInvitations, toInvitationResource } from './invitations.ts'

/** @returns the invitation as it was. @throws Failure `forbidden`, `not_found` */
export function revokeInvitation(
  { db, now }: { db: Database; now: () => number },
  actor: Actor,
  id: number,
): Promise<InvitationResource> {
  allow(actor, 'members:write')
  return db.write(async (connection) => {
    const row = await selectInvitations(connection, actor.workspaceId)
      .where('invitations.id', '=', id)
      .executeTakeFirst()
    if (!row) throw notFound('Invitation')
    await connection
      .deleteFrom('invitations')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .where('accepted_at', 'is', null)
      .execute()
    const target = { type: 'invitation', id, name: row.email } as const
    await recordAudit(connection, actor, { action: 'invitation.revoked', target }, now())
    return toInvitationResource(row)
  })
}
