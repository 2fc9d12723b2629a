// Finds the domain of a request: the default domain, or a verified domain of a workspace. All of them are in memory,
// because each request needs one, and none may wait.

import type { Selectable } from 'kysely'
import { isHost } from '../../../http/request-host.ts'
import { copyText } from '../../../lib/text.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Domains } from '../../../storage/database/tables/domain-tables.ts'

/** A domain with links that answer now. */
export interface ShortDomain {
  /** In the form of `links.domain`: '' is the default domain. */
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
  /**
   * @param host of the request, as sent: with or without a port; '' is the default domain's
   * @returns undefined for an unverified name, and for text that is not a host
   */
  find(host: string): ShortDomain | undefined
  /** @param name as `links.domain` has it @returns undefined where it does not answer now */
  get(name: string): ShortDomain | undefined
  /** Whether a verified domain has this host, with any port. */
  isOwnDomain(host: string): boolean
  /** The number of answering domains, and of those that fail their check: as of the last `reload()`. */
  count(): { verified: number; failing: number }
  /** Reads all verified domains. Call it after the commit of a change, and when another process has changed some. */
  reload(): Promise<void>
}

export const DEFAULT_DOMAIN: ShortDomain = {
  name: '',
  workspaceId: null,
  caseSensitive: false,
  rootUrl: null,
  notFoundUrl: null,
  expiredUrl: null,
  assetLinks: null,
  appleAppSiteAssociation: null,
}

interface OwnHosts {
  /** True for a host of the default domain. */
  isOwnHost(host: string): boolean
}

interface DirectoryState {
  domains: Map<string, ShortDomain>
  /** The domains by the hosts that requests have named: most requests name the same few. */
  found: Map<string, ShortDomain>
  /** The number of domains that fail their check. */
  failing: number
}

/** A stranger can write one host in many ways: with another port, in another case. */
const FOUND_MAX = 10_000

/**
 * Knows the default domain only, until the first `reload()`.
 * @param options.onNewHolder called with all names when one answers for another workspace than before, or for none
 */
export function createDomainDirectory(
  { read }: Pick<Database, 'read'>,
  site: OwnHosts,
  { onNewHolder = () => {} }: { onNewHolder?: (names: string[]) => void } = {},
): DomainDirectory {
  let state: DirectoryState = { domains: new Map(), found: new Map(), failing: 0 }
  let started = 0
  let applied = 0
  return {
    find: (host) => state.found.get(host) ?? findDomain(state, site, host),
    get: (name) => (name === '' ? DEFAULT_DOMAIN : state.domains.get(name)),
    isOwnDomain: (host) => state.domains.has(readHostName(host)),
    count: () => ({ verified: state.domains.size, failing: state.failing }),
    async reload() {
      const number = ++started
      const rows = await read.selectFrom('domains').selectAll().where('verified_at', 'is not', null).execute()
      // A read that began earlier may end later.
      if (number < applied) return
      applied = number
      const before = state.domains
      const domains = new Map(rows.map((row) => [row.domain, toShortDomain(row)]))
      const failing = rows.filter((row) => row.failing_since !== null).length
      state = { domains, found: new Map(), failing }
      if (hasNewHolder(before, domains)) onNewHolder([...domains.keys()])
    },
  }
}

function findDomain({ domains, found }: DirectoryState, site: OwnHosts, host: string) {
  if (host === '') return DEFAULT_DOMAIN
  if (!isHost(host)) return undefined
  // The operator's names come first: a workspace must not take over the dashboard's.
  const domain = site.isOwnHost(host) ? DEFAULT_DOMAIN : domains.get(readHostName(host))
  if (!domain) return undefined
  if (found.size >= FOUND_MAX) found.clear()
  found.set(copyText(host), domain)
  return domain
}

const hasNewHolder = (before: Map<string, ShortDomain>, after: Map<string, ShortDomain>) =>
  [...new Set([...before.keys(), ...after.keys()])].some(
    (name) => before.get(name)?.workspaceId !== after.get(name)?.workspaceId,
  )

/** Only the names, for code that starts before the directory exists. */
export async function listDomainNames({ read }: Pick<Database, 'read'>): Promise<string[]> {
  const rows = await read
    .selectFrom('domains')
    .select('domain')
    .where('verified_at', 'is not', null)
    .execute()
  return rows.map(({ domain }) => domain)
}

/** The name of a host in lower case, without its port and without dots at its end. */
export const readHostName = (host: string) =>
  host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/(?<!\.)\.+$/, '')

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
