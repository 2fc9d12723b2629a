// A workspace as the resource that its people and keys see.

import { notFound } from '../../lib/failure.ts'
import { type Plan, REQUESTS_PER_MINUTE } from '../../lib/plan.ts'
import { iso } from '../../lib/wire.ts'
import type { Db, Rows } from '../../storage/rows/open.ts'
import type { Role } from './actor.ts'
import { apiLimitKey, type RateLimiter } from './limits.ts'
import type { WorkspaceResource } from './schema.ts'

export interface WorkspaceNeeds {
  rows: Rows
  now: () => number
  origin: string
  limiter: RateLimiter
  /** First segment of the snippet, `t.js` unless it was renamed. */
  snippetPath: string
}

/** Who asks, and in which workspace: an actor, or somebody who has just become one. */
export interface Asking {
  workspaceId: number
  role: Role | null
}

/** @throws Failure `not_found` */
export function describeWorkspace(needs: WorkspaceNeeds, asking: Asking): Promise<WorkspaceResource> {
  return describeIn(needs.rows.read, needs, asking)
}

/** The same from inside a transaction. */
export async function describeIn(
  db: Db,
  { origin, snippetPath, limiter }: Pick<WorkspaceNeeds, 'origin' | 'snippetPath' | 'limiter'>,
  { workspaceId, role }: Asking,
): Promise<WorkspaceResource> {
  const row = await db
    .selectFrom('workspaces')
    .select(['id', 'public_id', 'name', 'plan', 'created_at'])
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  if (!row) throw notFound('Workspace')
  const plan = row.plan as Plan
  return {
    id: row.id,
    publicId: row.public_id,
    name: row.name,
    plan,
    role,
    createdAt: iso(row.created_at),
    requestsPerMinute: REQUESTS_PER_MINUTE[plan],
    requestsLastMinute: await limiter.used(apiLimitKey(workspaceId)),
    ...(await countIn(db, workspaceId)),
    snippet: `<script defer src="${origin}/${snippetPath}" data-workspace="${row.public_id}"></script>`,
  }
}

async function countIn(db: Db, workspaceId: number) {
  const of = (table: 'members' | 'links' | 'forms' | 'submissions' | 'api_keys') =>
    db
      .selectFrom(table)
      .select((e) => e.fn.countAll<number>().as('n'))
      .where('workspace_id', '=', workspaceId)
  const counts = {
    members: of('members'),
    links: of('links').where('deleted_at', 'is', null),
    forms: of('forms'),
    submissions: of('submissions'),
    keys: of('api_keys').where('revoked_at', 'is', null),
  }
  const n = async (query: { executeTakeFirstOrThrow(): Promise<{ n: number }> }) =>
    Number((await query.executeTakeFirstOrThrow()).n)
  // One after the other: within a transaction there is one connection.
  return {
    members: await n(counts.members),
    links: await n(counts.links),
    forms: await n(counts.forms),
    submissions: await n(counts.submissions),
    keys: await n(counts.keys),
  }
}
