// Chooses the domain of a link in an archive: the one that the person has chosen for its host; else, for a link of the
// default domain, the default domain; else the workspace's own domain of that name. That one may be unverified: its
// links wait for it, like those of a lost domain.

import { Failure } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { type LinkDomain, resolveDomain, toStoredDomain } from '../../links/names/link-domain.ts'
import type { ArchiveImport } from './archive-import.ts'
import { toDomainKey } from './store-settings.ts'

/** @throws Failure `invalid` where the domain that the person has named is gone */
export async function chooseLinkDomain(
  run: ArchiveImport,
  connection: Connection,
  host: string,
): Promise<LinkDomain> {
  const { needs, actor, archive, domainMap } = run
  const lookup = { connection, site: needs.site }
  const typed = domainMap[host.toLowerCase()]
  if (typed !== undefined) return resolveDomain(lookup, actor, typed)
  if (host.toLowerCase() === archive.defaultDomain.toLowerCase()) return { name: '', caseSensitive: false }
  const name = toStoredDomain(needs.site, host)
  if (name === '') return { name, caseSensitive: false }
  if (name !== null) {
    const own = await connection
      .selectFrom('domains')
      .select(['domain', 'case_sensitive'])
      .where('workspace_id', '=', actor.workspaceId)
      .where('domain', '=', name)
      .executeTakeFirst()
    if (own) return { name: own.domain, caseSensitive: own.case_sensitive === 1 }
    // A domain of a dry run has no row any more. Its links are new in any case.
    if (run.dryRunKeys.has(toDomainKey(name))) return { name, caseSensitive: true }
  }
  throw new Failure('invalid', `The workspace has no domain ${host}`, {
    errors: { domain: `is not a domain of this workspace. Name another one for ${host} (domainMap)` },
  })
}
