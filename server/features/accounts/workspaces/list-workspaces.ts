// The workspaces that somebody may enter: a person's own ones, a key's one.

import { toIso } from '../../../lib/api-fields.ts'
import { type Page, readPageQuery, toPage } from '../../../lib/pagination.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Role } from '../access/actor.ts'
import type { PageQueryInput, WorkspaceSummary } from '../schema.ts'

const ORDER = 'workspaces id asc'

/** @throws Failure `invalid` for a wrong cursor */
export async function listWorkspacesOfUser(
  { db }: { db: Database },
  userId: number,
  query: PageQueryInput,
): Promise<Page<WorkspaceSummary>> {
  const { limit, after = 0 } = readPageQuery(query, ORDER)
  const mine = db.read
    .selectFrom('workspaces')
    .innerJoin('members', (join) =>
      join.onRef('members.workspace_id', '=', 'workspaces.id').on('members.user_id', '=', userId),
    )
  const found = await mine
    .select([
      'workspaces.id',
      'workspaces.public_id',
      'workspaces.name',
      'workspaces.plan',
      'workspaces.created_at',
      'members.role',
    ])
    .where('workspaces.id', '>', after)
    .orderBy('workspaces.id')
    .limit(limit + 1)
    .execute()
  const total = await mine.select((e) => e.fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
  return toPage(found, { limit, order: ORDER, total }, toWorkspaceSummary)
}

/** What a key sees: the workspace it belongs to. */
export async function listWorkspaceOfKey(
  { db }: { db: Database },
  workspaceId: number,
  query: PageQueryInput,
): Promise<Page<WorkspaceSummary>> {
  const { limit, after = 0 } = readPageQuery(query, ORDER)
  const found = await db.read
    .selectFrom('workspaces')
    .select(['id', 'public_id', 'name', 'plan', 'created_at'])
    .where('id', '=', workspaceId)
    .where('id', '>', after)
    .execute()
  return toPage(found, { limit, order: ORDER, total: { n: 1 } }, (row) =>
    toWorkspaceSummary({ ...row, role: null }),
  )
}

function toWorkspaceSummary(row: {
  id: number
  public_id: string
  name: string
  plan: string
  created_at: number
  role: string | null
}): WorkspaceSummary {
  return {
    id: row.id,
    publicId: row.public_id,
    name: row.name,
    plan: row.plan as Plan,
    role: row.role as Role | null,
    createdAt: toIso(row.created_at),
  }
}
