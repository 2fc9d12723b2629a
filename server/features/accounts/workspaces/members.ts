// Who is in a workspace: the rows, the resource, the list, and the rule that somebody owns it.

import { toIso } from '../../../lib/api-fields.ts'
import { Failure, notFound } from '../../../lib/failure.ts'
import { type Page, readPageQuery, toPage } from '../../../lib/pagination.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Actor, Role } from '../access/actor.ts'
import type { MemberResource, PageQueryInput } from '../schema.ts'

const ORDER = 'members userId asc'

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

/** @throws Failure `not_found`, the same for somebody of another workspace as for nobody. */
export async function getMember(
  connection: Connection,
  workspaceId: number,
  userId: number,
): Promise<MemberResource> {
  const row = await selectMembers(connection, workspaceId).where('users.id', '=', userId).executeTakeFirst()
  if (!row) throw notFound('Member')
  return toMemberResource(row)
}

/** @throws Failure `invalid` for a wrong cursor */
export async function listMembers(
  { db }: { db: Database },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: PageQueryInput,
): Promise<Page<MemberResource>> {
  const { limit, after = 0 } = readPageQuery(query, ORDER)
  const found = await selectMembers(db.read, workspaceId)
    .where('users.id', '>', after)
    .orderBy('users.id')
    .limit(limit + 1)
    .execute()
  const total = await db.read
    .selectFrom('members')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return toPage(found, { limit, order: ORDER, total }, toMemberResource)
}

/** Whom to tell what the workspace ought to know. */
export async function listOwnerEmails({ db }: { db: Database }, workspaceId: number): Promise<string[]> {
  const owners = await selectMembers(db.read, workspaceId)
    .where('members.role', '=', 'owner')
    .orderBy('users.id')
    .execute()
  return owners.map(({ email }) => email)
}

/**
 * Whoever changes who is in a workspace does it one after the other: of two owners who leave at the same moment the
 * second one sees that the first has left. (SQLite has one writer anyway; PostgreSQL locks the row it updates.)
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

/** Asked when the change is made, and before it is committed. @throws Failure `conflict` */
export async function requireOwner(connection: Connection, workspaceId: number): Promise<void> {
  if (!(await hasOwner(connection, workspaceId))) throw new Failure('conflict', 'A workspace needs an owner')
}
