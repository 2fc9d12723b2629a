// The decision of a redirect: every branch of the product in one pure function, in the order of docs/contract.md §4.

import { appendQuery } from '../../lib/url-query.ts'
import type { TargetDevice } from '../../lib/user-agent.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import { CLICK_ID_PARAMETER } from '../hits/click-id.ts'
import type { CachedLink } from '../links/cache.ts'

export interface RedirectContext {
  /** Milliseconds since the epoch. */
  at: number
  device: TargetDevice
  /** Two upper-case letters; null when unknown. */
  country: string | null
  /** The short URL's query without `?`. */
  query: string
  /** The right password was given. */
  unlocked: boolean
  /** The link's `clickLimit` has no click left for this visitor. */
  clicksUsedUp: boolean
  /** Schemes a destination may have besides http and https. */
  schemes: string[]
}

/** Why: which rule of the link answered. */
export type RedirectRule =
  | 'destination'
  | 'device'
  | 'geo'
  | 'expiredUrl'
  | 'unknown'
  | 'archived'
  | 'notStarted'
  | 'expired'
  | 'clickLimit'
  | 'leadLimit'
  | 'unsafe'
  | 'password'

export type DestinationChoice =
  | { kind: 'go'; rule: RedirectRule; url: string; status: number; outcome: HitOutcome; addClickId: boolean }
  | { kind: 'missing'; rule: RedirectRule; outcome: HitOutcome }
  | { kind: 'gone'; rule: RedirectRule; outcome: HitOutcome }
  | { kind: 'password'; rule: RedirectRule; outcome: HitOutcome }

export function chooseDestination(link: CachedLink | null, visit: RedirectContext): DestinationChoice {
  if (!link) return { kind: 'missing', rule: 'unknown', outcome: 'missing' }
  if (link.plain) return go(link, visit, 'destination', link.destinationUrl)
  if (link.archived) return { kind: 'missing', rule: 'archived', outcome: 'missing' }
  if (link.startsAt !== null && visit.at < link.startsAt) {
    return { kind: 'missing', rule: 'notStarted', outcome: 'missing' }
  }
  const over = findClosingRule(link, visit)
  if (over) return gone(link, visit, over)
  if (link.passwordHash !== null && !visit.unlocked) {
    return { kind: 'password', rule: 'password', outcome: 'password' }
  }
  const byDevice = link.deviceTargeting?.[visit.device]
  if (byDevice !== undefined) return go(link, visit, 'device', byDevice)
  const byCountry = visit.country === null ? undefined : link.geoTargeting?.[visit.country]
  if (byCountry !== undefined) return go(link, visit, 'geo', byCountry)
  return go(link, visit, 'destination', link.destinationUrl)
}

function findClosingRule(link: CachedLink, visit: RedirectContext): RedirectRule | undefined {
  if (link.expiresAt !== null && visit.at >= link.expiresAt) return 'expired'
  if (link.clickLimit !== null && visit.clicksUsedUp) return 'clickLimit'
  if (link.leadLimit !== null && link.leads >= link.leadLimit) return 'leadLimit'
  return undefined
}

/** Not a click: the visitor did not get what the link was for. */
function gone(link: CachedLink, { schemes }: RedirectContext, rule: RedirectRule): DestinationChoice {
  if (link.expiredUrl === null || !isSafe(link.expiredUrl, schemes))
    return { kind: 'gone', rule, outcome: 'expired' }
  return {
    kind: 'go',
    rule: 'expiredUrl',
    url: link.expiredUrl,
    // Temporary, whatever the link's own status: it may be opened again.
    status: 302,
    outcome: 'expired',
    addClickId: false,
  }
}

function go(link: CachedLink, visit: RedirectContext, rule: RedirectRule, target: string): DestinationChoice {
  // Judged again here: a row that got in another way must not become an open door.
  if (!isSafe(target, visit.schemes)) return { kind: 'gone', rule: 'unsafe', outcome: 'expired' }
  return {
    kind: 'go',
    rule,
    url: link.forwardQuery ? appendForwardedQuery(target, visit.query, link.trackConversions) : target,
    status: link.redirectStatus,
    outcome: 'redirect',
    addClickId: link.trackConversions,
  }
}

/** Stored URLs are `href`s of parsed ones, so their scheme is what they begin with. */
function isSafe(href: string, schemes: string[]): boolean {
  return (
    href.startsWith('https://') ||
    href.startsWith('http://') ||
    schemes.some((scheme) => href.startsWith(scheme))
  )
}

/** The short URL's query, without what is ours and without names that the destination uses itself. */
function appendForwardedQuery(target: string, query: string, tracked: boolean): string {
  if (query === '') return target
  const own = new URL(target).searchParams
  return appendQuery(
    target,
    [...new URLSearchParams(query)].filter(
      ([name, value]) =>
        !own.has(name) && !(name === 'qr' && value === '1') && !(tracked && name === CLICK_ID_PARAMETER),
    ),
  )
}

/** Replaces the one that a destination may carry when it was copied from a browser: pages read the first. */
export function withClickId(url: string, clickId: string): string {
  const hash = url.includes('#') ? url.indexOf('#') : url.length
  const bare = url.slice(0, hash).replace(OLD_CLICK_ID, '')
  return appendQuery(bare + url.slice(hash), [[CLICK_ID_PARAMETER, clickId]])
}

const OLD_CLICK_ID = new RegExp(`(?<=[?&])${CLICK_ID_PARAMETER}=[^&]*(&|$)`, 'g')
