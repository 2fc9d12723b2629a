// The operator's way to let somebody into a workspace, without an invitation: for the first owner, and for whoever has
// lost their way in.

import { Failure, notFound } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Role } from '../access/actor.ts'
import type { MemberResource } from '../schema.ts'
import { getMember, hasOwner, lockMembers, requireOwner } from './members.ts'

interface Needs {
  db: Database
  now: () => number
}

/**
 * Makes a person who can sign in once they have set a password. @param name the part before the @ when absent
 * @param joins the workspace they are let into @throws Failure `conflict`, `not_found`
 */
export function createUser(
  { db, now }: Needs,
  { email, name, joins }: { email: string; name?: string; joins?: { workspaceId: number; role?: Role } },
): Promise<{ id: number; email: string; name: string; workspaceId: number | null; role: Role | null }> {
  return db.write(async (connection) => {
    const at = now()
    const user = await connection
      .insertInto('users')
      .values({
        email,
        name: name ?? email.slice(0, email.indexOf('@')),
        image: null,
        founder: null,
        created_at: at,
        updated_at: at,
      })
      .onConflict((conflict) => conflict.column('email').doNothing())
      .returning(['id', 'email', 'name'])
      .executeTakeFirst()
    if (!user) throw new Failure('conflict', `There is a user ${email} already`)
    const member = joins && (await addMemberIn(connection, at, joins.workspaceId, user.id, joins.role))
    return { ...user, workspaceId: joins?.workspaceId ?? null, role: member?.role ?? null }
  })
}

/**
 * Lets somebody in, or changes what they are. @param role when absent: as they are; else owner where there is none yet
 * @throws Failure `conflict`, `not_found`
 */
export function addMember(
  { db, now }: Needs,
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

async function addMemberIn(
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
  // Workspaces that were made on the command line belong to nobody yet.
  const given = role ?? ((await hasOwner(connection, workspaceId)) ? 'member' : 'owner')
  await connection
    .insertInto('members')
    .values({ workspace_id: workspaceId, user_id: userId, role: given, created_at: at })
    .onConflict((conflict) => {
      const known = conflict.columns(['workspace_id', 'user_id'])
      return role === undefined ? known.doNothing() : known.doUpdateSet({ role })
    })
    .execute()
  await requireOwner(connection, workspaceId)
  return getMember(connection, workspaceId, userId)
}
