// What redirects know about slugs, in memory: links and misses. Bounded, and told of every change by the write
// that makes it, so that an edit or deletion takes effect with the next request.

import type { Selectable } from 'kysely'
import type { Links } from '../../storage/database/tables.ts'
import { toSlugKey } from './slug.ts'

/** A link as redirects need it: parsed once, when it is read from the database. */
export interface CachedLink {
  id: number
  workspaceId: number
  slug: string
  title: string | null
  destinationUrl: string
  archived: boolean
  startsAt: number | null
  expiresAt: number | null
  expiredUrl: string | null
  clickLimit: number | null
  clicksUsed: number
  leadLimit: number | null
  leads: number
  passwordHash: string | null
  forwardQuery: boolean
  trackConversions: boolean
  geoTargeting: Record<string, string> | null
  deviceTargeting: Record<string, string> | null
  redirectStatus: number
  /** True when the destination alone decides: no date, limit, password, target or query to look at. */
  plain: boolean
}

export interface LinkCache {
  /** undefined: not known here, or too long ago; null: known to be missing. */
  get(domain: string, key: string): CachedLink | null | undefined
  /** The link as it was when its time to live ran out; known for that long again, so that few ask after it at once. */
  lastKnown(domain: string, key: string): CachedLink | undefined
  /** Remembers what was read, unless something changed since `readAt()` was called. */
  set(domain: string, key: string, link: CachedLink | null, readAt: number): void
  /** To be called before reading from the database. */
  version(): number
  invalidate(domain: string, slug: string): void
  /** All links of a workspace: looks at every entry, which is fine for what happens once in a workspace's life. */
  invalidateWorkspace(workspaceId: number): void
}

/** The link itself and not something that holds it: 100,000 objects less. */
type Entry = (CachedLink | { id: typeof NO_LINK }) & {
  /** On this cache's clock. */
  until: number
}

/** Ids begin at 1. */
const NO_LINK = 0
const toLink = (entry: Entry) => (entry.id === NO_LINK ? null : (entry as CachedLink))

// The default domain's links under their slugs alone, since joining texts takes longer than finding one; but what is asked
// for may have a slash (`/other.example%2Fslug`), and must not pass for another domain's.
const toCacheKey = (domain: string, key: string) =>
  domain === '' && !key.includes('/') ? key : `${domain}/${key}`

/**
 * Two generations: what was not asked for since the younger one filled up is dropped with the older one. Costs one
 * map look-up where a true LRU costs a deletion and an insertion per redirect.
 * @param entriesMax bound of one generation
 * @param timeToLiveMs how long another process's change may go unnoticed; undefined on one machine
 */
export function createLinkCache({
  entriesMax = 200_000,
  timeToLiveMs,
  clock = () => performance.now(),
}: {
  entriesMax?: number
  timeToLiveMs?: number
  clock?: () => number
} = {}): LinkCache {
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()
  let changes = 0
  const later = () => (timeToLiveMs === undefined ? Number.POSITIVE_INFINITY : clock() + timeToLiveMs)

  function keep(key: string, entry: Entry) {
    if (young.size >= entriesMax) {
      old = young
      young = new Map()
    }
    young.set(key, entry)
  }

  function find(key: string): Entry | undefined {
    const entry = young.get(key)
    if (entry !== undefined) return entry
    const older = old.get(key)
    if (older !== undefined) keep(key, older)
    return older
  }

  function drop(key: string) {
    young.delete(key)
    old.delete(key)
  }

  return {
    get(domain, slugKeyText) {
      const entry = find(toCacheKey(domain, slugKeyText))
      if (entry === undefined || (timeToLiveMs !== undefined && entry.until <= clock())) return undefined
      return toLink(entry)
    },
    lastKnown(domain, slugKeyText) {
      const entry = find(toCacheKey(domain, slugKeyText))
      // Not a miss: the link may have been made since.
      const link = entry && toLink(entry)
      if (!link) return undefined
      entry.until = later()
      return link
    },
    set(domain, slugKeyText, link, readAt) {
      // Mostly one text, of which two copies are here.
      const key = toCacheKey(domain, link?.slug === slugKeyText ? link.slug : slugKeyText)
      if (readAt === changes) keep(key, toCompactEntry(link ?? { id: NO_LINK }, later()))
      // What was read may be old, and what was known before is older still.
      else drop(key)
    },
    version: () => changes,
    invalidate(domain, slug) {
      changes++
      drop(toCacheKey(domain, toSlugKey(slug)))
    },
    invalidateWorkspace(workspaceId) {
      changes++
      for (const entries of [young, old])
        for (const [key, entry] of entries)
          if (toLink(entry)?.workspaceId === workspaceId) entries.delete(key)
    },
  }
}

/** What most links are, kept once for all of them: in memory, 100,000 links take 30 MB instead of 48. */
const DEFAULT_LINK: Omit<CachedLink, 'id' | 'workspaceId' | 'slug' | 'destinationUrl'> & { until: number } = {
  title: null,
  archived: false,
  startsAt: null,
  expiresAt: null,
  expiredUrl: null,
  clickLimit: null,
  clicksUsed: 0,
  leadLimit: null,
  leads: 0,
  passwordHash: null,
  forwardQuery: false,
  trackConversions: false,
  geoTargeting: null,
  deviceTargeting: null,
  redirectStatus: 302,
  plain: true,
  until: Number.POSITIVE_INFINITY,
}

/** The same link to whoever reads its properties; its own are those that are not the usual ones. */
function toCompactEntry(link: CachedLink | { id: typeof NO_LINK }, until: number): Entry {
  const own = Object.create(DEFAULT_LINK)
  for (const [name, value] of Object.entries({ ...link, until }))
    if (value !== DEFAULT_LINK[name as keyof typeof DEFAULT_LINK]) own[name] = value
  return own
}

export function toCachedLink(row: Selectable<Links>): CachedLink {
  const geo: Record<string, string> = JSON.parse(row.geo_targeting)
  const device: Record<string, string> = JSON.parse(row.device_targeting)
  const link = {
    id: row.id,
    workspaceId: row.workspace_id,
    slug: row.slug,
    title: row.title,
    destinationUrl: row.destination_url,
    archived: row.archived === 1,
    startsAt: row.starts_at,
    expiresAt: row.expires_at,
    expiredUrl: row.expired_url,
    clickLimit: row.click_limit,
    clicksUsed: row.clicks_used,
    leadLimit: row.lead_limit,
    leads: row.leads,
    passwordHash: row.password_hash,
    forwardQuery: row.forward_query === 1,
    trackConversions: row.track_conversions === 1,
    geoTargeting: Object.keys(geo).length > 0 ? geo : null,
    deviceTargeting: Object.keys(device).length > 0 ? device : null,
    redirectStatus: row.redirect_status,
  }
  const plain =
    !link.archived &&
    !link.forwardQuery &&
    !link.trackConversions &&
    [link.startsAt, link.expiresAt, link.clickLimit, link.leadLimit, link.passwordHash].every(
      (v) => v === null,
    ) &&
    link.geoTargeting === null &&
    link.deviceTargeting === null
  return { ...link, plain }
}
