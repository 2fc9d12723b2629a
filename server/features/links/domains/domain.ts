// A domain as a row and as the resource that callers see.

import type { Selectable } from 'kysely'
import { getDomain as getRegisteredName } from 'tldts'
import { notFound } from '../../../lib/failure.ts'
import { toIso } from '../../../lib/iso-time.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import type { Domains } from '../../../storage/database/tables/domain-tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { Site } from '../link.ts'
import type { DomainDirectory } from '../names/domain-directory.ts'
import { type DnsNeeds, toProofName } from './check-domain.ts'
import { countDomainLinks } from './domain-links.ts'
import type { DnsRecord, DomainResource } from './schema.ts'
import type { ServerAddresses } from './server-addresses.ts'

export type DomainRow = Selectable<Domains>

export interface DomainNeeds extends DnsNeeds {
  db: Database
  site: Site
  now: () => number
  /** Read again after each change of verified domains. */
  domains: Pick<DomainDirectory, 'reload'>
}

/** @param links how many links it has, without the trash */
export const toDomainResource = (
  { serverAddresses }: Pick<DnsNeeds, 'serverAddresses'>,
  row: DomainRow,
  links: number,
): DomainResource => ({
  id: row.id,
  domain: row.domain,
  verified: row.verified_at !== null,
  dns: toDnsRecords(serverAddresses, row),
  problem: row.problem,
  primary: row.is_primary === 1,
  caseSensitive: row.case_sensitive === 1,
  rootUrl: row.root_url,
  notFoundUrl: row.not_found_url,
  expiredUrl: row.expired_url,
  links,
  assetLinks: row.asset_links === null ? null : JSON.parse(row.asset_links),
  appleAppSiteAssociation:
    row.apple_app_site_association === null ? null : JSON.parse(row.apple_app_site_association),
  createdAt: toIso(row.created_at),
  updatedAt: toIso(row.updated_at),
})

const toFlag = (bit: number | null) => (bit === null ? null : bit === 1)

function toDnsRecords({ host, known }: ServerAddresses, row: DomainRow): DnsRecord[] {
  const { domain, token, proof_ok, route_ok } = row
  const proof = { type: 'TXT' as const, name: toProofName(domain), value: token, ok: toFlag(proof_ok) }
  const route = { name: domain, ok: toFlag(route_ok) }
  // The top of a zone has other records, beside which DNS allows no CNAME (RFC 1034 §3.6.2).
  const isZoneTop = getRegisteredName(domain, { allowPrivateDomains: true }) === domain
  const isName = /[a-z]/.test(host) && !host.startsWith('[')
  if (isName && !isZoneTop) return [proof, { ...route, type: 'CNAME', value: host }]
  const addresses = known()
  if (addresses.length === 0) return [proof, { ...route, type: 'ALIAS', value: host }]
  return [
    proof,
    ...addresses.map((value) => ({
      ...route,
      type: value.includes(':') ? ('AAAA' as const) : ('A' as const),
      value,
    })),
  ]
}

/** @throws Failure `not_found`, for an unknown domain and for one of another workspace alike */
export async function getDomain(
  connection: Connection,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  id: number,
): Promise<DomainRow> {
  const row = await connection
    .selectFrom('domains')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw notFound('Domain')
  return row
}

/** Lets changes of one workspace's domains wait for each other. SQLite has one writer anyway. */
export async function lockDomains(connection: Connection, { workspaceId }: Pick<Actor, 'workspaceId'>) {
  await connection
    .updateTable('workspaces')
    .set((e) => ({ updated_at: e.ref('updated_at') }))
    .where('id', '=', workspaceId)
    .execute()
}

/** A row with its count of links, as a resource. Not inside a transaction: see domain-links.ts. */
export async function describeDomain(
  needs: Pick<DomainNeeds, 'db' | 'serverAddresses'>,
  row: DomainRow,
): Promise<DomainResource> {
  const { links } = await countDomainLinks(needs.db.read, row)
  return toDomainResource(needs, row, links)
}
