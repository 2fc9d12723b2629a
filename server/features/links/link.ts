// A link as a row and as the resource that callers see.

import type { Selectable } from 'kysely'
import { toIso, toIsoOrNull } from '../../lib/iso-time.ts'
import { toShortUrl } from '../../lib/web-url.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import type { Links } from '../../storage/database/tables/link-tables.ts'
import { findRuleWarnings } from './redirect-rules/find-warnings.ts'
import type { LinkResource } from './schema.ts'
import type { ReservedNames } from './slug.ts'

export type LinkRow = Selectable<Links>

/** The addresses of this server, and the rules for links that the operator has set. */
export interface Site extends ReservedNames {
  /** `https://go.example` */
  origin: string
  /** The default domain, such as `go.example`; with the port unless it is the default port of the scheme. */
  domain: string
  /** The names of the default domain (`TOWPATH_URL`, `TOWPATH_ALIASES`), in lower case and without ports. */
  names: ReadonlySet<string>
  /** The hosts of the default domain, and those that reach this server from the same machine. */
  ownHosts: string[]
  /** Whether short links exist on a host: a destination there could cause a redirect loop. */
  isShortHost: (host: string) => boolean
  /**
   * Whether the default domain answers requests for a host: a name of this server, or one that cannot be a custom
   * domain.
   */
  isOwnHost: (host: string) => boolean
  /** Schemes that a destination may have besides http and https. */
  schemes: string[]
  /** True where the operator blocks the URL's host. */
  isBlocked: (url: URL) => boolean
}

/** The database stores the default domain as '', so that links keep working after its name has changed. */
export const toDomainName = (site: Site, domain: string) => (domain === '' ? site.domain : domain)

/** The resources of `links` in the same order. One query reads the tags of all links. */
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
    ...toRuleFields(link),
    extraPath: link.extra_path as LinkResource['extraPath'],
    publicStats: link.public_stats === 1,
    split: link.split === null ? null : JSON.parse(link.split),
    splitEndsAt: toIsoOrNull(link.split_ends_at),
    splitResult: link.split_result === null ? null : JSON.parse(link.split_result),
    redirectStatus: link.redirect_status as LinkResource['redirectStatus'],
    previewTitle: link.preview_title,
    previewDescription: link.preview_description,
    previewImage: link.preview_image,
    suspended: link.suspended_at !== null,
    suspendedReason: link.suspended_reason,
    clicks: link.clicks,
    clicksBefore: link.clicks_before,
    leads: link.leads,
    lastClickedAt: toIsoOrNull(link.last_clicked_at),
    createdAt: toIso(link.created_at),
    updatedAt: toIso(link.updated_at),
  }))
}

function toRuleFields(link: LinkRow): Pick<LinkResource, 'rules' | 'ruleWarnings'> {
  const rules: LinkResource['rules'] = JSON.parse(link.rules)
  return { rules, ruleWarnings: findRuleWarnings(rules) }
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
    const tags = byLink.get(link_id) ?? []
    tags.push({ id, name, color: color as LinkResource['tags'][number]['color'] })
    byLink.set(link_id, tags)
  }
  return byLink
}
