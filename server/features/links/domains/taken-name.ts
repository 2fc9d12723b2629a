// The failure for a domain name that another workspace has proven to be its own.

import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { type Actor, hasScopes } from '../../accounts/access/actor.ts'

export const takenName = (domain: string) =>
  new Failure(
    'conflict',
    `${domain} is verified in another workspace. Remove it there first, or take its TXT record out of DNS: the workspace loses it 7 days later.`,
  )

/** @throws Failure `conflict` */
export async function refuseTakenName(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId' | 'scopes'>,
  domain: string,
): Promise<void> {
  const other = await connection
    .selectFrom('domains')
    .select('id')
    .where('domain', '=', domain)
    .where('verified_at', 'is not', null)
    .where('workspace_id', '<>', actor.workspaceId)
    .executeTakeFirst()
  if (other) throw takenName(hasScopes(actor, 'links:read') ? domain : 'The domain')
}
