// Lists the workspaces of a person, or the one workspace of an API key.

import { toIso } from '../../../lib/iso-time.ts'
import { cutPage, orderById, type Page, readPageQuery } from '../../../lib/pagination.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Role } from '../../../lib/role.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { PageQueryInput, WorkspaceSummary } from '../schema.ts'
import { FIRST_WORKSPACE } from './first-workspace.ts'

const ORDER = orderById('workspaces id asc')

/** @throws Failure `invalid` for a wrong cursor */
export async function listWorkspacesOfUser(
  { db }: { db: Database },
  userId: number,
  query: PageQueryInput,
): Promise<Page<WorkspaceSummary>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const ownWorkspaces = db.read
    .selectFrom('workspaces')
    .innerJoin('members', (join) =>
      join.onRef('members.workspace_id', '=', 'workspaces.id').on('members.user_id', '=', userId),
    )
  const found = await ownWorkspaces
    .select([
      'workspaces.id',
      'workspaces.public_id',
      'workspaces.name',
      'workspaces.plan',
      'workspaces.require_two_factor',
      'workspaces.kept_params',
      'workspaces.created_at',
      'members.role',
      FIRST_WORKSPACE.as('first_id'),
    ])
    .where('workspaces.id', '>', after?.id ?? 0)
    .orderBy('workspaces.id')
    .limit(limit + 1)
    .execute()
  const { total } = await ownWorkspaces
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return { data: rows.map(toWorkspaceSummary), nextCursor, total: Number(total) }
}

/** @throws Failure `invalid` for a wrong cursor */
export async function listWorkspaceOfKey(
  { db }: { db: Database },
  workspaceId: number,
  query: PageQueryInput,
): Promise<Page<WorkspaceSummary>> {
  const { limit, after } = readPageQuery(query, ORDER)
  const found = await db.read
    .selectFrom('workspaces')
    .select(['id', 'public_id', 'name', 'plan', 'require_two_factor', 'kept_params', 'created_at'])
    .where('id', '=', workspaceId)
    .where('id', '>', after?.id ?? 0)
    .execute()
  const { rows, nextCursor } = cutPage(found, limit, ORDER)
  return {
    data: rows.map((row) => toWorkspaceSummary({ ...row, role: null, first_id: null })),
    nextCursor,
    total: 1,
  }
}

function toWorkspaceSummary(row: {
  id: number
  public_id: string
  name: string
  plan: string
  require_two_factor: number
  kept_params: string | null
  created_at: number
  role: string | null
  first_id: number | null
}): WorkspaceSummary {
  return {
    id: row.id,
    publicId: row.public_id,
    name: row.name,
    plan: row.plan as Plan,
    role: row.role as Role | null,
    operatesServer: row.role === 'owner' && row.id === row.first_id,
    requireTwoFactor: row.require_two_factor === 1,
    keptParams: JSON.parse(row.kept_params ?? '[]'),
    createdAt: toIso(row.created_at),
  }
}
