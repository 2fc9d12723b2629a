// The operator on the command line, as an actor in the workspace of a domain.

import { notFound } from '../../../lib/failure.ts'
import type { Plan } from '../../../lib/plan.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'

/** @throws Failure `not_found` */
export async function getOperatorActor(
  { db }: { db: Pick<Database, 'read'> },
  of: { workspaceId: number } | { domainId: number },
): Promise<Actor> {
  const workspaces = db.read.selectFrom('workspaces').select(['workspaces.id', 'workspaces.plan'])
  const row = await ('workspaceId' in of
    ? workspaces.where('workspaces.id', '=', of.workspaceId)
    : workspaces
        .innerJoin('domains', 'domains.workspace_id', 'workspaces.id')
        .where('domains.id', '=', of.domainId)
  ).executeTakeFirst()
  if (!row) throw notFound('workspaceId' in of ? 'Workspace' : 'Domain')
  return { kind: 'operator', workspaceId: row.id, plan: row.plan as Plan, keyId: null }
}
