// The workspaces that somebody may enter: a person's own ones, a key's one.

import type { Plan } from '../../lib/plan.ts'
import { iso } from '../../lib/wire.ts'
import type { Rows } from '../../storage/rows/open.ts'
import type { Role } from './actor.ts'
import { type Page, pageOf, startOf } from './pages.ts'
import type { PageQueryInput, WorkspaceSummary } from './schema.ts'

const ORDER = 'workspaces id asc'

/** @throws Failure `invalid` for a wrong cursor */
export async function listWorkspacesOf(
  { rows }: { rows: Rows },
  userId: number,
  query: PageQueryInput,
): Promise<Page<WorkspaceSummary>> {
  const { limit, after = 0 } = startOf(query, ORDER)
  const mine = rows.read
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
  return pageOf(found, { limit, order: ORDER, total }, summary)
}

/** What a key sees: the workspace it belongs to. */
export async function listWorkspaceOfKey(
  { rows }: { rows: Rows },
  workspaceId: number,
  query: PageQueryInput,
): Promise<Page<WorkspaceSummary>> {
  const { limit, after = 0 } = startOf(query, ORDER)
  const found = await rows.read
    .selectFrom('workspaces')
    .select(['id', 'public_id', 'name', 'plan', 'created_at'])
    .where('id', '=', workspaceId)
    .where('id', '>', after)
    .execute()
  return pageOf(found, { limit, order: ORDER, total: { n: 1 } }, (row) => summary({ ...row, role: null }))
}

function summary(row: {
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
    createdAt: iso(row.created_at),
  }
}
