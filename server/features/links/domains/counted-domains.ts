// The domains that show a workspace their unknown slugs: its verified ones, and the default domain for the first
// workspace, because its owners operate the server.

import type { Database } from '../../../storage/database/database.ts'
import { FIRST_WORKSPACE } from '../../accounts/workspaces/first-workspace.ts'

export interface CountedDomain {
  /** '' is the default domain. */
  domain: string
  /** The workspace that the counts are of; 0 on the default domain. */
  holder: number
  /** Earlier counts may be of links that others had. */
  since: number
  caseSensitive: boolean
}

export async function listCountedDomains(
  { read }: Pick<Database, 'read'>,
  workspaceId: number,
): Promise<CountedDomain[]> {
  const own = await read
    .selectFrom('domains')
    .select(['domain', 'case_sensitive'])
    .where('workspace_id', '=', workspaceId)
    .where('verified_at', 'is not', null)
    .orderBy('domain')
    .execute()
  const domains = own.map(({ domain, case_sensitive }) => ({
    domain,
    holder: workspaceId,
    since: 0,
    caseSensitive: case_sensitive === 1,
  }))
  const first = await read
    .selectFrom('workspaces')
    .select('created_at')
    .where('id', '=', workspaceId)
    .where('id', '=', FIRST_WORKSPACE)
    .executeTakeFirst()
  return first
    ? [{ domain: '', holder: 0, since: first.created_at, caseSensitive: false }, ...domains]
    : domains
}
