// The domain that a link is on: which domains a workspace may use, and whether a domain's slugs keep their case.

import { invalid } from '../../../lib/failure.ts'
import { toAsciiHost } from '../../../lib/web-url.ts'
import type { Connection, DatabaseEngine } from '../../../storage/database/open-database.ts'
import { type Actor, hasScopes } from '../../accounts/access/actor.ts'
import { readHostName } from './domain-directory.ts'

export interface LinkDomain {
  /** In the form of `links.domain`: '' is the default domain. */
  name: string
  caseSensitive: boolean
}

interface DomainLookup {
  connection: Connection
  /** With the name of the default domain. */
  site: { domain: string }
  /** The engine of the transaction that will put a link on the domain; absent where none will. */
  lockOn?: DatabaseEngine
}

const DEFAULT_DOMAIN: LinkDomain = { name: '', caseSensitive: false }
const NAMES_MAX = 5

/** @returns a typed name in the form of `links.domain`; null when no domain can have it */
export const toStoredDomain = (site: DomainLookup['site'], typed: string): string | null =>
  typed.toLowerCase() === site.domain.toLowerCase() ? '' : toAsciiHost(readHostName(typed)) || null

/**
 * @param typed the name of the default domain or of a verified domain of the workspace. Absent or null: the domain for new
 * links, which is the primary domain of the workspace, else the default domain
 * @throws Failure `invalid`
 */
export async function resolveDomain(
  lookup: DomainLookup,
  actor: Pick<Actor, 'workspaceId' | 'scopes'>,
  typed: string | null | undefined,
): Promise<LinkDomain> {
  if (typed === undefined || typed === null) return (await findPrimaryDomain(lookup, actor)) ?? DEFAULT_DOMAIN
  const name = toStoredDomain(lookup.site, typed)
  if (name === '') return DEFAULT_DOMAIN
  const named = selectDomains(lookup, actor).where('domain', '=', name)
  const row = name === null ? undefined : await named.executeTakeFirst()
  if (!row) throw invalid({ domain: await toUnknownSentence(lookup, actor) })
  if (row.verified_at === null) {
    throw invalid({ domain: `is not verified yet: set the DNS records that the page of ${name} shows` })
  }
  return toLinkDomain(row)
}

/** The domain of a link that exists: it may have been lost since. */
export async function findLinkDomain(
  connection: Connection,
  actor: Pick<Actor, 'workspaceId'>,
  name: string,
): Promise<LinkDomain> {
  if (name === '') return DEFAULT_DOMAIN
  const row = await selectDomains({ connection }, actor).where('domain', '=', name).executeTakeFirst()
  return row ? toLinkDomain(row) : { name, caseSensitive: false }
}

/** The current holder of a name. @returns undefined for an unused name; no workspace for the default domain */
export async function findHolder(
  connection: Connection,
  name: string,
): Promise<{ workspaceId: number | null; caseSensitive: boolean } | undefined> {
  if (name === '') return { workspaceId: null, caseSensitive: false }
  const row = await connection
    .selectFrom('domains')
    .select(['workspace_id', 'case_sensitive'])
    .where('domain', '=', name)
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  return row && { workspaceId: row.workspace_id, caseSensitive: row.case_sensitive === 1 }
}

async function findPrimaryDomain(lookup: DomainLookup, actor: Pick<Actor, 'workspaceId'>) {
  const row = await selectDomains(lookup, actor)
    .where('is_primary', '=', 1)
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  return row && toLinkDomain(row)
}

/** The lock lets the domain not go before the transaction ends. SQLite has one writer anyway. */
const selectDomains = (
  { connection, lockOn }: Pick<DomainLookup, 'connection' | 'lockOn'>,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
) =>
  connection
    .selectFrom('domains')
    .select(['domain', 'case_sensitive', 'verified_at'])
    .where('workspace_id', '=', workspaceId)
    .$if(lockOn === 'postgres', (domains) => domains.forKeyShare())

const toLinkDomain = (row: { domain: string; case_sensitive: number }): LinkDomain => ({
  name: row.domain,
  caseSensitive: row.case_sensitive === 1,
})

async function toUnknownSentence(
  { connection, site }: DomainLookup,
  actor: Pick<Actor, 'workspaceId' | 'scopes'>,
): Promise<string> {
  if (!hasScopes(actor, 'links:read')) return 'is not a domain of this workspace'
  const rows = await selectDomains({ connection }, actor)
    .where('verified_at', 'is not', null)
    .orderBy('domain')
    .limit(NAMES_MAX)
    .execute()
  const names = [site.domain, ...rows.map(({ domain }) => domain)]
  return `is not a domain of this workspace; use ${names.join(' or ')}`
}
