// The cache of links for redirects, by domain and slug. A separate small cache has slugs without a link. A committed
// change invalidates the link's entry, so that the next request sees it. Other processes learn of the change from the
// change feed.

import type { Selectable } from 'kysely'
import { createExpiry, type Expiry, type Freshness } from '../../lib/concurrency/expiry.ts'
import { createRecentChanges, type RecentChanges } from '../../lib/concurrency/recent-changes.ts'
import { createSharedReads } from '../../lib/concurrency/shared-reads.ts'
import { createGenerations, type Generations } from '../../lib/generations.ts'
import { copyText } from '../../lib/text.ts'
import type { Links } from '../../storage/database/tables/link-tables.ts'
import { type CompiledRules, compileRules } from './redirect-rules/find-rule.ts'
import type { Variant } from './split/schema.ts'

/** The social card of a link: at least one is set. */
export interface LinkCard {
  title: string | null
  description: string | null
  image: string | null
}

/**
 * A link as redirects need it, parsed once after the read from the database. `title` and `comments` are not here: they are
 * for the team, so no public page can show them.
 */
export interface CachedLink {
  id: number
  workspaceId: number
  slug: string
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
  rules: CompiledRules | null
  /** A path after the slug goes to the end of the destination. */
  appendsPath: boolean
  /** The preview page shows the clicks. */
  publicStats: boolean
  split: readonly Variant[] | null
  redirectStatus: number
  /** The page that unfurlers get in place of the redirect. */
  card: LinkCard | null
  /** The operator has suspended the link or its workspace. */
  suspended: boolean
  /** True when a redirect needs only the destination: no dates, limits, password, targeting, query or suspension. */
  plain: boolean
  /** The version of the list of blocked hosts that `blockedUrls` is of. `createDestinationJudge` sets both. */
  judgedBy: number
  blockedUrls: readonly string[] | null
}

export interface LinkCache {
  /** @returns undefined when the cache has no current entry; null when no link has this slug */
  get(domain: string, key: string): CachedLink | null | undefined
  /** The link of an expired entry. Renews the entry, so that only one request reads the link again. */
  lastKnown(domain: string, key: string): CachedLink | undefined
  /**
   * Reads a link from the store, and keeps it unless it has changed meanwhile. Concurrent calls share one read, unless
   * the link has changed since that read began.
   */
  read(domain: string, key: string, load: () => Promise<CachedLink | null>): Promise<CachedLink | null>
  /** Stores a read link, unless it has changed since. @param readVersion the `version()` before the read */
  set(domain: string, key: string, link: CachedLink | null, readVersion: number): void
  /** Counts changes. Call it before reading from the database. */
  version(): number
  invalidate(domain: string, key: string): void
  /** Removes all links of a workspace. Visits every entry, but a workspace changes seldom. */
  invalidateWorkspace(workspaceId: number): void
  /** Slugs without a link may have one: for a domain that answers for another workspace than before. */
  invalidateMisses(): void
  invalidateAll(): void
  /** About how many bytes of memory the entries take. */
  bytes(): number
}

/** The link itself, not an object around it: this saves 100,000 objects for 100,000 links. */
type Entry = CachedLink & {
  /** When the entry expires, on the cache's clock. */
  until: number
}

/** A slug without a link. */
type Miss = Pick<Entry, 'until'>

// Links of the default domain have their slug alone as key, because joining two texts takes longer than the look-up. A
// requested slug with a slash (`/other.example%2Fslug`) must not match the key of another domain.
const toCacheKey = (domain: string, key: string) =>
  domain === '' && !key.includes('/') ? key : `${domain}/${key}`

/** No key of a link begins like this: no slug and no domain has a space. */
const toWorkspaceKey = (workspaceId: number) => ` ${workspaceId}`

/** An object, its entry in a Map, and short values. 100,000 usual links take 300 bytes each. */
const ENTRY_BYTES = 200
const CARD_BYTES = 64
const MISS_BYTES = 100

const countLetters = (...texts: (string | null | undefined)[]) =>
  texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)

const weighLink = (key: string, link: Entry): number =>
  ENTRY_BYTES +
  countLetters(key, link.slug, link.destinationUrl, link.expiredUrl, link.passwordHash) +
  (link.card === null ? 0 : CARD_BYTES + countLetters(...Object.values(link.card))) +
  (link.split === null ? 0 : 2 * JSON.stringify(link.split).length) +
  (link.rules === null ? 0 : 2 * JSON.stringify(link.rules).length) +
  [link.geoTargeting, link.deviceTargeting].reduce(
    (sum, targets) => sum + (targets === null ? 0 : countLetters(...Object.entries(targets).flat())),
    0,
  )

interface CacheState {
  links: Generations<Entry>
  misses: Generations<Miss>
  recent: RecentChanges
  expiry: Expiry
}

/**
 * Keeps links in generations, and misses in separate ones: strangers request unlimited unknown slugs, which must
 * neither push out links nor fill the memory.
 * @param entriesMax bound of one generation of links
 * @param bytesMax the same in bytes: links have up to 8 KB of destination, and more with targeting
 */
export function createLinkCache({
  entriesMax = 200_000,
  bytesMax = 64 * 1024 * 1024,
  missesMax = 10_000,
  ...freshness
}: Freshness & { entriesMax?: number; bytesMax?: number; missesMax?: number } = {}): LinkCache {
  const state: CacheState = {
    links: createGenerations<Entry>({ entriesMax, bytesMax, weigh: weighLink }),
    misses: createGenerations<Miss>({
      entriesMax: missesMax,
      bytesMax: 4 * 1024 * 1024,
      weigh: (key) => MISS_BYTES + 2 * key.length,
    }),
    recent: createRecentChanges(),
    expiry: createExpiry(freshness),
  }
  const { links, misses, recent, expiry } = state
  const reads = createSharedReads<CachedLink | null>(recent)
  const set: LinkCache['set'] = (...read) => storeRead(state, ...read)

  return {
    get(domain, slugKey) {
      const key = toCacheKey(domain, slugKey)
      const link = links.get(key)
      if (link !== undefined) return expiry.isCurrent(link) ? link : undefined
      const miss = misses.get(key)
      return miss !== undefined && expiry.isCurrent(miss) ? null : undefined
    },
    lastKnown(domain, slugKey) {
      // An expired miss is not renewed: the link may have been created since.
      const link = links.get(toCacheKey(domain, slugKey))
      if (link) link.until = expiry.next()
      return link
    },
    read(domain, slugKey, load) {
      return reads.join(toCacheKey(domain, slugKey), async (version) => {
        const link = await load()
        set(domain, slugKey, link, version)
        return link
      })
    },
    set,
    version: recent.version,
    invalidate(domain, slugKey) {
      const key = toCacheKey(domain, slugKey)
      recent.add(key)
      remove(state, key)
    },
    invalidateWorkspace(workspaceId) {
      recent.add(toWorkspaceKey(workspaceId))
      // The workspace of a link that is being read is still unknown.
      reads.closeAll()
      links.deleteWhere((link) => link.workspaceId === workspaceId)
    },
    invalidateMisses() {
      recent.addAll()
      misses.clear()
    },
    invalidateAll() {
      recent.addAll()
      links.clear()
      misses.clear()
    },
    bytes: () => links.bytes() + misses.bytes(),
  }
}

function storeRead(
  state: CacheState,
  domain: string,
  slugKey: string,
  link: CachedLink | null,
  readVersion: number,
): void {
  const { links, misses, recent, expiry } = state
  // The slug is mostly equal to its key. Using the same text for both saves memory.
  const key = toCacheKey(domain, link?.slug === slugKey ? link.slug : copyText(slugKey))
  const isOutdated =
    recent.hasChangedSince(readVersion, key) ||
    (link !== null && recent.hasChangedSince(readVersion, toWorkspaceKey(link.workspaceId)))
  // Neither the read link nor the entry can be trusted.
  if (isOutdated) remove(state, key)
  else if (link) {
    misses.delete(key)
    links.set(key, toCompactEntry(link, expiry.next()))
  } else {
    links.delete(key)
    misses.set(key, { until: expiry.next() })
  }
}

function remove({ links, misses }: CacheState, key: string): void {
  links.delete(key)
  misses.delete(key)
}

/** The values of most links, stored once as a prototype: 100,000 links take 30 MB of memory instead of 48. */
const DEFAULT_LINK: Omit<CachedLink, 'id' | 'workspaceId' | 'slug' | 'destinationUrl'> & { until: number } = {
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
  rules: null,
  appendsPath: false,
  publicStats: false,
  split: null,
  redirectStatus: 302,
  card: null,
  suspended: false,
  plain: true,
  judgedBy: 0,
  blockedUrls: null,
  until: Number.POSITIVE_INFINITY,
}

/** An object with the same properties to a reader. Only properties that differ from `DEFAULT_LINK` are its own. */
function toCompactEntry(link: CachedLink, until: number): Entry {
  const entry = Object.create(DEFAULT_LINK)
  for (const [name, value] of Object.entries({ ...link, until }))
    if (value !== DEFAULT_LINK[name as keyof typeof DEFAULT_LINK]) entry[name] = value
  return entry
}

/** @param row `workspace_suspended_at` may be absent where a suspended workspace does not get this far */
export function toCachedLink(
  row: Selectable<Links> & { workspace_suspended_at?: number | null },
): CachedLink {
  const geo: Record<string, string> = JSON.parse(row.geo_targeting)
  const device: Record<string, string> = JSON.parse(row.device_targeting)
  const link = {
    id: row.id,
    workspaceId: row.workspace_id,
    slug: row.slug,
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
    rules: row.rules === '[]' ? null : compileRules(JSON.parse(row.rules)),
    appendsPath: row.extra_path === 'append',
    publicStats: row.public_stats === 1,
    split: row.split === null ? null : (JSON.parse(row.split) as Variant[]),
    redirectStatus: row.redirect_status,
    card: toCard(row),
    suspended: row.suspended_at !== null || (row.workspace_suspended_at ?? null) !== null,
  }
  const plain =
    !link.suspended &&
    !link.archived &&
    !link.forwardQuery &&
    !link.trackConversions &&
    [link.startsAt, link.expiresAt, link.clickLimit, link.leadLimit, link.passwordHash].every(
      (value) => value === null,
    ) &&
    link.geoTargeting === null &&
    link.deviceTargeting === null &&
    link.rules === null &&
    !link.appendsPath &&
    link.split === null
  return { ...link, plain, judgedBy: 0, blockedUrls: null }
}

function toCard({ preview_title, preview_description, preview_image }: Selectable<Links>): LinkCard | null {
  if (preview_title === null && preview_description === null && preview_image === null) return null
  return { title: preview_title, description: preview_description, image: preview_image }
}
