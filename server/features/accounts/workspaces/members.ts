// The members of a workspace: rows, resource, list, and the rule that a workspace has an owner.

import { Failure, notFound } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { cutPage, orderById, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Role } from '../../../lib/role.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../access/actor.ts'
import type { MemberResource, PageQueryInput } from '../schema.ts'

const ORDER = orderById('members userId asc')

interface MemberRow {
  id: number
  name: string
  email: string
  role: string
  created_at: number
}

const selectMembers = (connection: Connection, workspaceId: number) =>
  connection
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['users.id', 'users.name', 'users.email', 'members.role', 'members.created_at'])
    .where('members.workspace_id', '=', workspaceId)

const toMemberResource = ({ id, name, email, role, created_at }: MemberRow): MemberResource => ({
  userId: id,
  name,
  email,
  role: role as Role,
  createdAt: toIso(created_at),
})

/** @returns undefined for an unknown user and for a user of another workspace alike */
export async function findMember(
  connection: Connection,
  workspaceId: number,
  userId: number,
): Promise<MemberResource | undefined> {
  const row = await selectMembers(connection, workspaceId).where('users.id', '=', userId).executeTakeFirst()
  return row && toMemberResource(row)
}

/** @throws Failure `not_found` */
export async function getMember(
  connection: Connection,
  workspaceId: number,
  userId: number,
): Promise<MemberResource> {
  const member = await findMember(connection, workspaceId, userId)
  if (!member) throw notFound('Member')
  return member
}

/** @throws Failure `invalid` for a wrong cursor */
export async function listMembers(
  { db }: { db: Database },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: PageQueryInput,
): Promise<Page<MemberResource>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const found = await selectMembers(db.read, workspaceId)
    .where('users.id', '>', after?.id ?? 0)
    .orderBy('users.id')
    .limit(limit + 1)
    .execute()
  const { total } = await db.read
    .selectFrom('members')
    .select((e) => e.fn.countAll<number>().as('total'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map(toMemberResource), nextCursor, total: Number(total) }
}

/**
 * The people who get notices about the workspace.
 * @param needs.onlyVerified where everyone may sign up: an invited person may have signed up with another person's
 * address
 */
export async function listOwnerEmails(
  { db, onlyVerified = false }: { db: Database; onlyVerified?: boolean },
  workspaceId: number,
): Promise<string[]> {
  let owners = selectMembers(db.read, workspaceId).where('members.role', '=', 'owner')
  // The founder counts as verified: that person is the operator.
  if (onlyVerified)
    owners = owners.where((e) => e.or([e('users.email_verified', '=', 1), e('users.founder', '=', 1)]))
  return (await owners.orderBy('users.id').execute()).map(({ email }) => email)
}

/**
 * Serializes changes of the members. Without it, two owners could leave at the same moment, and neither
 * transaction would see that no owner is left. PostgreSQL locks the row of an update; SQLite has one writer anyway.
 */
export async function lockMembers(connection: Connection, workspaceId: number): Promise<void> {
  await connection
    .updateTable('workspaces')
    .set((e) => ({ updated_at: e.ref('updated_at') }))
    .where('id', '=', workspaceId)
    .execute()
}

export async function hasOwner(connection: Connection, workspaceId: number): Promise<boolean> {
  const owner = await connection
    .selectFrom('members')
    .select('user_id')
    .where('workspace_id', '=', workspaceId)
    .where('role', '=', 'owner')
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}

/** Call it after the change and before the commit. @throws Failure `conflict` when no owner is left */
export async function requireOwner(connection: Connection, workspaceId: number): Promise<void> {
  if (!(await hasOwner(connection, workspaceId))) throw new Failure('conflict', 'A workspace needs an owner')
}
