// The domains whose unknown slugs a workspace may see: those that it has verified, and the default domain where nobody
// else uses it.

import type { Database } from '../../../storage/database/database.ts'

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
  const [only, another] = await read.selectFrom('workspaces').select(['id', 'created_at']).limit(2).execute()
  const isAlone = only?.id === workspaceId && !another
  return isAlone
    ? [{ domain: '', holder: 0, since: only.created_at, caseSensitive: false }, ...domains]
    : domains
}
