// A link as a row and as the resource that callers see.

import type { Selectable } from 'kysely'
import { toIso, toIsoOrNull } from '../../lib/api-fields.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Links } from '../../storage/database/tables.ts'
import type { LinkResource } from './schema.ts'

export type LinkRow = Selectable<Links>

/** Where this instance answers: its public origin, and the name of its default domain. */
export interface Site {
  /** `https://go.example` */
  origin: string
  /** `go.example`, with the port where it is not the scheme's own. */
  domain: string
  /** Every host that reaches this instance, for refusing loops. */
  ownHosts: string[]
  /** Schemes a destination may have besides http and https. */
  schemes: string[]
  /** What no slug of the default domain may be, in lower case. */
  reserved: ReadonlySet<string>
}

/** Links in the database name the default domain '', so that they survive a change of its name. */
export const toDomainName = (site: Site, domain: string) => (domain === '' ? site.domain : domain)

export function toShortUrl(site: Site, link: Pick<LinkRow, 'domain' | 'slug'>): string {
  const origin = link.domain === '' ? site.origin : `https://${link.domain}`
  return `${origin}/${encodeURIComponent(link.slug)}`
}

/** The resources of `links`, in their order, with the tags of all of them read at once. */
export async function toLinkResources(
  connection: Connection,
  site: Site,
  links: LinkRow[],
): Promise<LinkResource[]> {
  const tags = await listTagsByLink(connection, links)
  return links.map((link) => ({
    id: link.id,
    slug: link.slug,
    domain: toDomainName(site, link.domain),
    shortUrl: toShortUrl(site, link),
    destinationUrl: link.destination_url,
    title: link.title,
    comments: link.comments,
    tags: tags.get(link.id) ?? [],
    externalId: link.external_id,
    archived: link.archived === 1,
    startsAt: toIsoOrNull(link.starts_at),
    expiresAt: toIsoOrNull(link.expires_at),
    expiredUrl: link.expired_url,
    clickLimit: link.click_limit,
    leadLimit: link.lead_limit,
    passwordProtected: link.password_hash !== null,
    forwardQuery: link.forward_query === 1,
    trackConversions: link.track_conversions === 1,
    geoTargeting: JSON.parse(link.geo_targeting),
    deviceTargeting: JSON.parse(link.device_targeting),
    redirectStatus: link.redirect_status as LinkResource['redirectStatus'],
    clicks: link.clicks,
    leads: link.leads,
    lastClickedAt: toIsoOrNull(link.last_clicked_at),
    createdAt: toIso(link.created_at),
    updatedAt: toIso(link.updated_at),
  }))
}

export async function toLinkResource(
  connection: Connection,
  site: Site,
  link: LinkRow,
): Promise<LinkResource> {
  const [resource] = await toLinkResources(connection, site, [link])
  if (!resource) throw new Error('one link in, one resource out')
  return resource
}

async function listTagsByLink(
  connection: Connection,
  links: LinkRow[],
): Promise<Map<number, LinkResource['tags']>> {
  const byLink = new Map<number, LinkResource['tags']>()
  const [first] = links
  if (!first) return byLink
  const rows = await connection
    .selectFrom('link_tags')
    .innerJoin('tags', 'tags.id', 'link_tags.tag_id')
    .select(['link_tags.link_id', 'tags.id', 'tags.name', 'tags.color'])
    .where('link_tags.workspace_id', '=', first.workspace_id)
    .where(
      'link_tags.link_id',
      'in',
      links.map((link) => link.id),
    )
    .orderBy('tags.name_key')
    .execute()
  for (const { link_id, id, name, color } of rows) {
    const list = byLink.get(link_id) ?? []
    list.push({ id, name, color: color as LinkResource['tags'][number]['color'] })
    byLink.set(link_id, list)
  }
  return byLink
}
