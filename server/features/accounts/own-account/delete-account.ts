// Deletes a person's own account, with the workspaces that nobody else is in.

import { Failure, invalid } from '../../../lib/failure.ts'
import { toNestedDatabase } from '../../../storage/database/nested-database.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { refuseSuspended, refuseSuspendedLinks } from '../access/suspension.ts'
import { recordAccountAudit } from '../audit/record-audit.ts'
import { deleteMailedLinks } from '../auth/mailed-links.ts'
import { deleteWorkspace } from '../workspaces/delete-workspace.ts'
import { lockMembers } from '../workspaces/members.ts'

export interface DeleteAccountNeeds {
  db: Database
  now: () => number
}

interface WorkspaceName {
  id: number
  name: string
}

export interface AccountDeletion {
  /** Workspaces of this person alone. They are deleted with the account. */
  workspaces: WorkspaceName[]
  /** Workspaces with other members and no other owner. They prevent the deletion. */
  needOwner: WorkspaceName[]
}

/** The effects of a deletion. */
export async function describeDeletion(connection: Connection, userId: number): Promise<AccountDeletion> {
  const rows = await connection
    .selectFrom('members')
    .innerJoin('workspaces', 'workspaces.id', 'members.workspace_id')
    .select((e) => {
      const others = e
        .selectFrom('members as other')
        .select((o) => o.fn.countAll<number>().as('n'))
        .whereRef('other.workspace_id', '=', 'members.workspace_id')
        .where('other.user_id', '!=', userId)
      return [
        'workspaces.id',
        'workspaces.name',
        others.as('others'),
        others.where('other.role', '=', 'owner').as('owners'),
      ]
    })
    .where('members.user_id', '=', userId)
    .where('members.role', '=', 'owner')
    .orderBy('workspaces.id')
    .execute()
  const pick = (test: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(test).map(({ id, name }) => ({ id, name }))
  return {
    workspaces: pick(({ others }) => Number(others) === 0),
    needOwner: pick(({ others, owners }) => Number(others) > 0 && Number(owners) === 0),
  }
}

/**
 * @param confirm must be the person's address.
 * @throws Failure `invalid`, `conflict` when a workspace would lose its last owner, `forbidden` when the operator has
 * suspended something in it
 */
export async function deleteAccount(
  { db, now }: DeleteAccountNeeds,
  { userId, email }: { userId: number; email: string },
  confirm: string,
): Promise<void> {
  if (confirm.trim().toLowerCase() !== email) throw invalid({ confirm: 'must be your email address' })
  await db.write(async (connection, onCommit) => {
    // Changes of members wait, so that nobody joins or leaves in the meantime.
    for (const id of await listOwnWorkspaces(connection, userId)) await lockMembers(connection, id)
    const { workspaces, needOwner } = await describeDeletion(connection, userId)
    const [blocking] = needOwner
    if (blocking) {
      throw new Failure(
        'conflict',
        `You are the only owner of "${blocking.name}", which has other members: make one of them an owner, or delete the workspace`,
      )
    }
    const nested = { db: toNestedDatabase(db, connection, onCommit), now }
    for (const { id } of workspaces) {
      await refuseSuspendedContents(connection, id)
      await deleteWorkspace(nested, id)
    }
    await deleteMailedLinks(connection, ['reset', 'email', 'email-undo'], String(userId))
    // In the workspaces of others, which stay.
    await recordAccountAudit(connection, userId, { action: 'account_deleted' }, now())
    // Sessions, identities, second factors and memberships are deleted by "on delete cascade".
    await connection.deleteFrom('users').where('id', '=', userId).execute()
  })
}

/** A suspended link or form could be deleted and made anew. @throws Failure `forbidden` */
async function refuseSuspendedContents(connection: Connection, workspaceId: number): Promise<void> {
  const workspace = await connection
    .selectFrom('workspaces')
    .select(['suspended_at', 'suspended_reason'])
    .where('id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  refuseSuspended('workspace', workspace)
  await refuseSuspendedLinks(connection, workspaceId)
}

async function listOwnWorkspaces(connection: Connection, userId: number): Promise<number[]> {
  const rows = await connection
    .selectFrom('members')
    .select('workspace_id')
    .where('user_id', '=', userId)
    .orderBy('workspace_id')
    .execute()
  return rows.map(({ workspace_id }) => workspace_id)
}
