// Taking an invitation back: its link leads nowhere any more.

import { notFound } from '../../lib/failure.ts'
import type { Rows } from '../../storage/rows/open.ts'
import { type Actor, allow } from './actor.ts'
import { invitationResource, invitations } from './invitations.ts'
import type { InvitationResource } from './schema.ts'

/** @returns it as it was. @throws Failure `forbidden`, `not_found` */
export function withdrawInvitation(
  { rows }: { rows: Rows },
  actor: Actor,
  id: number,
): Promise<InvitationResource> {
  allow(actor, 'members:write')
  return rows.write(async (db) => {
    const row = await invitations(db, actor.workspaceId).where('invitations.id', '=', id).executeTakeFirst()
    if (!row) throw notFound('Invitation')
    await db
      .deleteFrom('invitations')
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .where('accepted_at', 'is', null)
      .execute()
    return invitationResource(row)
  })
}
