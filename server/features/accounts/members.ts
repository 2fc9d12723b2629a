// Who is in a workspace: the rows, the resource, the list, and the rule that somebody owns it.

import { Failure, notFound } from '../../lib/failure.ts'
import { iso } from '../../lib/wire.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { Actor, Role } from './actor.ts'
import { type Page, pageOf, startOf } from './pages.ts'
import type { MemberResource, PageQueryInput } from './schema.ts'

const ORDER = 'members userId asc'

interface MemberRow {
  id: number
  name: string
  email: string
  role: string
  created_at: number
}

const members = (db: Db, workspaceId: number) =>
  db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(['users.id', 'users.name', 'users.email', 'members.role', 'members.created_at'])
    .where('members.workspace_id', '=', workspaceId)

const memberResource = ({ id, name, email, role, created_at }: MemberRow): MemberResource => ({
  userId: id,
  name,
  email,
  role: role as Role,
  createdAt: iso(created_at),
})

/** @throws Failure `not_found`, the same for somebody of another workspace as for nobody. */
export async function findMember(db: Db, workspaceId: number, userId: number): Promise<MemberResource> {
  const row = await members(db, workspaceId).where('users.id', '=', userId).executeTakeFirst()
  if (!row) throw notFound('Member')
  return memberResource(row)
}

/** @throws Failure `invalid` for a wrong cursor */
export async function listMembers(
  { rows }: { rows: Rows },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  query: PageQueryInput,
): Promise<Page<MemberResource>> {
  const { limit, after = 0 } = startOf(query, ORDER)
  const found = await members(rows.read, workspaceId)
    .where('users.id', '>', after)
    .orderBy('users.id')
    .limit(limit + 1)
    .execute()
  const total = await rows.read
    .selectFrom('members')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return pageOf(found, { limit, order: ORDER, total }, memberResource)
}

/** Whom to tell what the workspace ought to know. */
export async function ownerEmails({ rows }: { rows: Rows }, workspaceId: number): Promise<string[]> {
  const owners = await members(rows.read, workspaceId)
    .where('members.role', '=', 'owner')
    .orderBy('users.id')
    .execute()
  return owners.map(({ email }) => email)
}

/**
 * Whoever changes who is in a workspace does it one after the other: of two owners who leave at the same moment the
 * second one sees that the first has left. (SQLite has one writer anyway; PostgreSQL locks the row it updates.)
 */
export async function lockMembers(db: Db, workspaceId: number): Promise<void> {
  await db
    .updateTable('workspaces')
    .set((e) => ({ updated_at: e.ref('updated_at') }))
    .where('id', '=', workspaceId)
    .execute()
}

export async function hasOwner(db: Db, workspaceId: number): Promise<boolean> {
  const owner = await db
    .selectFrom('members')
    .select('user_id')
    .where('workspace_id', '=', workspaceId)
    .where('role', '=', 'owner')
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}

/** Asked when the change is made, and before it is committed. @throws Failure `conflict` */
export async function keepOwned(db: Db, workspaceId: number): Promise<void> {
  if (!(await hasOwner(db, workspaceId))) throw new Failure('conflict', 'A workspace needs an owner')
}
