// Creates a user for the operator, who needs no invitation.

import { Failure } from '../../../lib/failure.ts'
import type { Role } from '../../../lib/role.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { addMemberIn } from './add-member.ts'

/**
 * The user can sign in after setting a password. @param name the part of the address before the @ when absent
 * @param joins a workspace that the user becomes a member of @throws Failure `conflict`, `not_found`
 */
export function createUser(
  { db, now }: { db: Database; now: () => number },
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
