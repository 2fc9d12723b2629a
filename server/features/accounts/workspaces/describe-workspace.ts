// A workspace as the resource that its people and keys see.

import { toIso } from '../../../lib/api-fields.ts'
import { notFound } from '../../../lib/failure.ts'
import { type Plan, REQUESTS_PER_MINUTE } from '../../../lib/plan.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Role } from '../access/actor.ts'
import { type RateLimiter, toApiLimitKey } from '../access/rate-limiter.ts'
import type { WorkspaceResource } from '../schema.ts'

export interface WorkspaceNeeds {
  db: Database
  now: () => number
  origin: string
  limiter: RateLimiter
  /** First segment of the snippet, `t.js` unless it was renamed. */
  snippetPath: string
}

/** Who asks, and in which workspace: an actor, or somebody who has just become one. */
export interface WorkspaceViewer {
  workspaceId: number
  role: Role | null
}

/** @throws Failure `not_found` */
export function describeWorkspace(
  needs: WorkspaceNeeds,
  asking: WorkspaceViewer,
): Promise<WorkspaceResource> {
  return describeWorkspaceIn(needs.db.read, needs, asking)
}

/** The same from inside a transaction. */
export async function describeWorkspaceIn(
  connection: Connection,
  { origin, snippetPath, limiter }: Pick<WorkspaceNeeds, 'origin' | 'snippetPath' | 'limiter'>,
  { workspaceId, role }: WorkspaceViewer,
): Promise<WorkspaceResource> {
  const row = await connection
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
    createdAt: toIso(row.created_at),
    requestsPerMinute: REQUESTS_PER_MINUTE[plan],
    requestsLastMinute: await limiter.count(toApiLimitKey(workspaceId)),
    ...(await countIn(connection, workspaceId)),
    snippet: `<script defer src="${origin}/${snippetPath}" data-workspace="${row.public_id}"></script>`,
  }
}

async function countIn(connection: Connection, workspaceId: number) {
  const of = (table: 'members' | 'links' | 'forms' | 'submissions' | 'api_keys') =>
    connection
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
