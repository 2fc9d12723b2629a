// Adds a member to a workspace for the operator, who needs no invitation: for the first owner, and for a person who has
// lost access.

import { notFound } from '../../../lib/failure.ts'
import type { Role } from '../../../lib/role.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { requireRoom } from '../access/workspace-limits.ts'
import { type AuditEntry, recordAudit } from '../audit/record-audit.ts'
import type { MemberResource } from '../schema.ts'
import { findMember, getMember, hasOwner, lockMembers, requireOwner } from './members.ts'

/**
 * Adds a member, or changes the role of a member. @param role when absent, a member keeps theirs; a new member becomes
 * the owner of a workspace without one, else a member @throws Failure `conflict`, `not_found`
 */
export function addMember(
  { db, now }: { db: Database; now: () => number },
  { workspaceId, email, role }: { workspaceId: number; email: string; role?: Role },
): Promise<MemberResource> {
  return db.write(async (connection) => {
    const user = await getUser(connection, email)
    return addMemberIn(connection, now(), workspaceId, user.id, role)
  })
}

/** @throws Failure `not_found` */
export async function getUser(connection: Connection, email: string): Promise<{ id: number; email: string }> {
  const user = await connection
    .selectFrom('users')
    .select(['id', 'email'])
    .where('email', '=', email)
    .executeTakeFirst()
  if (!user) throw notFound('User')
  return user
}

/** Does the work of `addMember` inside an open transaction. */
export async function addMemberIn(
  connection: Connection,
  at: number,
  workspaceId: number,
  userId: number,
  role: Role | undefined,
): Promise<MemberResource> {
  await lockMembers(connection, workspaceId)
  const workspace = await connection
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  if (!workspace) throw notFound('Workspace')
  const before = await findMember(connection, workspaceId, userId)
  // A workspace that was created on the command line has no owner yet.
  const newRole = role ?? ((await hasOwner(connection, workspaceId)) ? 'member' : 'owner')
  await connection
    .insertInto('members')
    .values({ workspace_id: workspaceId, user_id: userId, role: newRole, created_at: at })
    .onConflict((conflict) => {
      const existing = conflict.columns(['workspace_id', 'user_id'])
      return role === undefined ? existing.doNothing() : existing.doUpdateSet({ role })
    })
    .execute()
  await requireOwner(connection, workspaceId)
  await requireRoom(connection, workspaceId, 'members')
  const member = await getMember(connection, workspaceId, userId)
  await recordOperator(connection, at, workspaceId, before, member)
  return member
}

async function recordOperator(
  connection: Connection,
  at: number,
  workspaceId: number,
  before: MemberResource | undefined,
  { userId, email, role }: MemberResource,
) {
  if (before?.role === role) return
  const target = { type: 'member', id: userId, name: email } as const
  const entry: AuditEntry = before
    ? { action: 'member.role_changed', target, detail: { from: before.role, to: role } }
    : { action: 'member.joined', target, detail: { role } }
  await recordAudit(connection, { kind: 'operator', workspaceId }, entry, at)
}
