// Counts requests for unknown slugs, by slug and hour. Strangers choose these slugs, so their number is limited: all others
// share one count. Counts are in memory and are written every ten seconds.

import { copyText } from '../../../lib/text.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { openCountBuffer } from '../../../storage/database/count-buffer.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { DiskSpace } from '../../../storage/disk-space.ts'
import type { SaltLookup } from '../../visitors/salts.ts'
import { toVisitorId } from '../../visitors/visitor-id.ts'
import { listSlugsOfHour, type MissCount, OTHER_SLUGS, storeMisses } from './store-misses.ts'

export interface Miss {
  /** Milliseconds since the epoch. */
  at: number
  domain: string
  /** The domain's workspace; 0 on the default domain. */
  workspaceId: number
  /** In the form for matching; null for a text that cannot be a slug. */
  slugKey: string | null
  /** True for a person; false for a robot, prefetch or HEAD request. */
  human: boolean
  address: string
  userAgent: string
}

export interface MissCounter {
  /** Counts one request. It never throws and never waits. */
  count(miss: Miss): void
  /** Writes all counts so far. Counts that cannot be written wait for the next flush. */
  flush(): Promise<void>
  /** Writes the last counts. Later requests are not counted. */
  close(): Promise<void>
}

export interface MissCounterNeeds {
  db: Database
  getSalt: SaltLookup
  disk: Pick<DiskSpace, 'isLow'>
  now: () => number
  everyMs?: number
  slugsMax?: number
}

interface CounterState {
  needs: MissCounterNeeds
  slugsMax: number
  /** The start of the hour of `known`. */
  hour: number
  /** The slugs with their own row in this hour, by domain. */
  known: Map<string, Set<string>>
  /** The day of `visitors`. */
  day: number
  /** Keyed hashes of a visitor and a slug. */
  visitors: Set<number>
}

const HOUR_MS = 60 * 60 * 1000
const FLUSH_EVERY_MS = 10_000
/** Distinct slugs of a domain in an hour (docs/contract.md §16). With the longest slugs, a domain takes 4 MB of memory. */
const SLUGS_MAX = 10_000
/** Enough for two domains in an hour. Slugs above this limit share one count. */
const WAITING_MAX = 20_000
/** 1 MB of memory. Further visitors of the day are not counted. */
const VISITORS_MAX = 20_000

const toHour = (at: number) => at - (at % HOUR_MS)

export async function openMissCounter(needs: MissCounterNeeds): Promise<MissCounter> {
  const { db, now, everyMs = FLUSH_EVERY_MS, slugsMax = SLUGS_MAX } = needs
  const state: CounterState = {
    needs,
    slugsMax,
    hour: toHour(now()),
    known: new Map(),
    day: 0,
    visitors: new Set(),
  }
  // Adds the stored slugs of this hour, so that a restart does not reset the limit.
  for (const { domain, slug } of await listSlugsOfHour(db, state.hour)) getKnown(state, domain).add(slug)
  const counts = openCountBuffer<MissCount>({
    name: 'misses',
    everyMs,
    waitingMax: WAITING_MAX,
    toKey: ({ hour, domain, slug }) => `${hour} ${domain}/${slug}`,
    merge: mergeCounts,
    toOverflow: (count) => ({ ...count, slug: OTHER_SLUGS, visitors: 0 }),
    store: (waiting) => storeMisses(db, waiting),
  })
  return { count: (miss) => counts.add(toCount(state, miss)), flush: counts.flush, close: counts.close }
}

function mergeCounts(into: MissCount, count: MissCount): void {
  const { workspaceId, hits, visitors, bots, lastAt } = count
  // The domain has a new holder, who must not see the requests for the former one's slugs.
  if (workspaceId !== into.workspaceId) {
    Object.assign(into, count)
    return
  }
  into.hits += hits
  into.visitors += visitors
  into.bots += bots
  into.lastAt = Math.max(into.lastAt, lastAt)
}

function toCount(state: CounterState, miss: Miss): MissCount {
  const { at, domain, workspaceId, human } = miss
  const hour = toHour(at)
  if (hour !== state.hour) {
    state.hour = hour
    state.known.clear()
  }
  const slug = admitSlug(state, miss)
  const isNew = human && slug !== OTHER_SLUGS && addVisitor(state, miss, slug)
  return {
    domain,
    workspaceId,
    hour,
    slug,
    hits: Number(human),
    visitors: Number(isNew),
    bots: Number(!human),
    lastAt: at,
  }
}

function getKnown({ known }: CounterState, domain: string): Set<string> {
  const slugs = known.get(domain) ?? new Set()
  known.set(domain, slugs)
  return slugs
}

/** @returns the slug, or OTHER_SLUGS when it gets no separate row */
function admitSlug(state: CounterState, { slugKey, domain }: Miss): string {
  if (slugKey === null || slugKey === '') return OTHER_SLUGS
  const slugs = getKnown(state, domain)
  if (slugs.has(slugKey)) return slugKey
  if (slugs.size >= state.slugsMax || state.needs.disk.isLow()) return OTHER_SLUGS
  const slug = copyText(slugKey)
  slugs.add(slug)
  return slug
}

/** Counts a visitor once a day for a slug. A restart loses this state. @returns true if the visitor is new */
function addVisitor(state: CounterState, { at, address, userAgent, domain }: Miss, slug: string): boolean {
  const { needs, visitors } = state
  const day = Math.floor(at / DAY_MS)
  if (day !== state.day) {
    state.day = day
    visitors.clear()
  }
  if (visitors.size >= VISITORS_MAX) return false
  const visitor = { workspaceId: 0, address, userAgent: `${userAgent} ${domain}/${slug}` }
  const { high, low } = toVisitorId(visitor, needs.getSalt(at))
  const before = visitors.size
  // 53 of the 64 bits: as many as a number holds.
  visitors.add(high * 2 ** 21 + (low >>> 11))
  return visitors.size > before
}
