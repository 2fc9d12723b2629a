// Which domain a request is for: the default domain, or a verified domain of a workspace. All of them are in memory, because
// each request asks, and none may wait.

import type { Selectable } from 'kysely'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Domains } from '../../../storage/database/tables/domain-tables.ts'
import type { Site } from '../link.ts'

/** A domain whose links answer now. */
export interface ShortDomain {
  /** As `links.domain` has it: '' is the default domain. */
  name: string
  /** Only links of this workspace answer; null on the default domain, which is everybody's. */
  workspaceId: number | null
  caseSensitive: boolean
  rootUrl: string | null
  notFoundUrl: string | null
  expiredUrl: string | null
  /** JSON texts for `/.well-known/`. */
  assetLinks: string | null
  appleAppSiteAssociation: string | null
}

export interface DomainDirectory {
  /** @param host of the request, as it was sent: with or without a port @returns undefined for a name that nobody has verified */
  find(host: string): ShortDomain | undefined
  /** @param name as `links.domain` has it @returns undefined where it does not answer now */
  get(name: string): ShortDomain | undefined
  /** How many answer, and how many of them fail their check: as of the last `reload()`. */
  count(): { verified: number; failing: number }
  /** Reads all verified domains. Call it after the commit of a change, and when another process has changed some. */
  reload(): Promise<void>
}

const DEFAULT_DOMAIN: ShortDomain = {
  name: '',
  workspaceId: null,
  caseSensitive: false,
  rootUrl: null,
  notFoundUrl: null,
  expiredUrl: null,
  assetLinks: null,
  appleAppSiteAssociation: null,
}

/** Knows the default domain only, until the first `reload()`. */
export function createDomainDirectory(
  { read }: Pick<Database, 'read'>,
  site: Pick<Site, 'isOwnHost'>,
): DomainDirectory {
  let domains = new Map<string, ShortDomain>()
  let failing = 0
  let started = 0
  let applied = 0
  const get = (name: string) => (name === '' ? DEFAULT_DOMAIN : domains.get(name))
  return {
    find: (host) => domains.get(readHostName(host)) ?? (site.isOwnHost(host) ? DEFAULT_DOMAIN : undefined),
    get,
    count: () => ({ verified: domains.size, failing }),
    async reload() {
      const number = ++started
      const rows = await read.selectFrom('domains').selectAll().where('verified_at', 'is not', null).execute()
      // A read that began earlier may end later.
      if (number < applied) return
      applied = number
      domains = new Map(rows.map((row) => [row.domain, toShortDomain(row)]))
      failing = rows.filter((row) => row.failing_since !== null).length
    },
  }
}

/** The name of a host in lower case, without its port and without a dot at its end. */
export const readHostName = (host: string) => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')

const toShortDomain = (row: Selectable<Domains>): ShortDomain => ({
  name: row.domain,
  workspaceId: row.workspace_id,
  caseSensitive: row.case_sensitive === 1,
  rootUrl: row.root_url,
  notFoundUrl: row.not_found_url,
  expiredUrl: row.expired_url,
  assetLinks: row.asset_links,
  appleAppSiteAssociation: row.apple_app_site_association,
})
