// Builds the resource of a workspace, with its counts.

import { sql } from 'kysely'
import type { KeyScope } from '../../../http/key-scope.ts'
import { notFound } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import { type Plan, REQUESTS_PER_MINUTE } from '../../../lib/plan.ts'
import type { Role } from '../../../lib/role.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { type RateLimiter, toApiLimitKey } from '../access/rate-limiter.ts'
import { toBrandResource } from '../brand/brand.ts'
import type { WorkspaceResource } from '../schema.ts'
import { toAnalyticsSettings } from './analytics-settings.ts'
import { FIRST_WORKSPACE } from './first-workspace.ts'

export interface WorkspaceNeeds {
  db: Database
  now: () => number
  origin: string
  limiter: RateLimiter
  /** First path segment of the snippet: `t.js`, or the operator's `SNIPPET_PATH`. */
  snippetPath: string
}

/** The workspace, and the role of the person or the scopes of the API key that sees it. */
export interface WorkspaceViewer {
  workspaceId: number
  role: Role | null
  keyScopes?: readonly KeyScope[]
}

/** @throws Failure `not_found` */
export function describeWorkspace(
  needs: WorkspaceNeeds,
  viewer: WorkspaceViewer,
): Promise<WorkspaceResource> {
  return describeWorkspaceIn(needs.db.read, needs, viewer)
}

/** Does the same inside an open transaction. */
export async function describeWorkspaceIn(
  connection: Connection,
  { origin, snippetPath, limiter }: Pick<WorkspaceNeeds, 'origin' | 'snippetPath' | 'limiter'>,
  { workspaceId, role, keyScopes }: WorkspaceViewer,
): Promise<WorkspaceResource> {
  const row = await connection
    .selectFrom('workspaces')
    .select([
      'id',
      'public_id',
      'name',
      'plan',
      'require_two_factor',
      'missing_report_above',
      'watch_destinations',
      'brand',
      'kept_params',
      'internal_networks',
      'ignored_referrers',
      'created_at',
      FIRST_WORKSPACE.as('first_id'),
    ])
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
    operatesServer: role === 'owner' && row.id === row.first_id,
    requireTwoFactor: row.require_two_factor === 1,
    missingReportAbove: row.missing_report_above,
    ...toAnalyticsSettings(row),
    brand: toBrandResource(origin, row.brand),
    createdAt: toIso(row.created_at),
    requestsPerMinute: REQUESTS_PER_MINUTE[plan],
    requestsLastMinute: await limiter.count(toApiLimitKey(workspaceId)),
    ...(await countContents(connection, workspaceId)),
    snippet: `<script defer src="${origin}/${snippetPath}" data-workspace="${row.public_id}"></script>`,
    keyScopes: keyScopes ? [...keyScopes] : null,
  }
}

async function countContents(connection: Connection, workspaceId: number) {
  const rowsOf = (table: 'members' | 'links' | 'forms' | 'submissions' | 'api_keys') =>
    connection
      .selectFrom(table)
      .select((e) => e.fn.countAll<number>().as('n'))
      .where('workspace_id', '=', workspaceId)
  // Submissions from "Try it" are few, and have their own index.
  const tests = connection
    .selectFrom('submissions')
    .select((e) => e.fn.countAll<number>().as('n'))
    .where(sql<boolean>`announced = 2`)
    .where(sql<boolean>`+workspace_id = ${workspaceId}`)
  const counts = {
    members: rowsOf('members'),
    links: rowsOf('links').where('deleted_at', 'is', null),
    forms: rowsOf('forms'),
    submissions: rowsOf('submissions'),
    keys: rowsOf('api_keys').where('revoked_at', 'is', null),
  }
  const count = async (query: { executeTakeFirstOrThrow(): Promise<{ n: number }> }) =>
    Number((await query.executeTakeFirstOrThrow()).n)
  // One query after the other: a transaction has one connection.
  return {
    members: await count(counts.members),
    links: await count(counts.links),
    forms: await count(counts.forms),
    submissions: (await count(counts.submissions)) - (await count(tests)),
    keys: await count(counts.keys),
  }
}
