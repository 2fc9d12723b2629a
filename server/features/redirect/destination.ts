// Chooses the answer of a redirect: every branch of the product in one pure function, in the order of
// docs/contract.md §4.

import { appendQuery, mergeQuery } from '../../lib/url-query.ts'
import type { TargetDevice } from '../../lib/user-agent.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import { CLICK_ID_PARAMETER } from '../hits/click-id.ts'
import type { DestinationJudge } from '../links/blocklist/judge-destination.ts'
import type { CachedLink } from '../links/cache.ts'
import { findRule, type RuleVisitor } from '../links/redirect-rules/find-rule.ts'

export interface RedirectContext {
  /** Milliseconds since the epoch. */
  at: number
  device: TargetDevice
  /** Two upper-case letters; null when unknown. */
  country: string | null
  /** What the link's rules ask of the visitor. */
  ruleVisitor?: RuleVisitor
  /** The index of the visitor's variant where the link has a split. Without it, the first one answers and none is counted. */
  variant?: number
  /** The short URL's query without `?`. */
  query: string
  /** The path after the slug, as it was sent and without the first slash; '' without one. */
  extraPath?: string
  /** The visitor gave the right password. */
  unlocked: boolean
  /** The link's `clickLimit` has no click left for this visitor. */
  clicksUsedUp: boolean
  /** Schemes a destination may have besides http and https. */
  schemes: string[]
  /** True where the operator blocks the host of the link's destination. */
  isBlocked?: DestinationJudge
  /** Where the link's domain sends visitors of links that are over and have no URL of their own for that. */
  domainExpiredUrl?: string | null
}

/** The setting of the link that chose the answer. */
export type RedirectReason =
  | 'destination'
  | `rules.${number}`
  | 'split'
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
  | 'suspended'
  | 'blocked'
  | 'password'

export type DestinationChoice =
  | {
      kind: 'go'
      rule: RedirectReason
      /** The label of the variant that the click counts for. */
      variant?: string
      url: string
      status: number
      outcome: HitOutcome
      addClickId: boolean
    }
  | { kind: 'notFound'; rule: RedirectReason; outcome: HitOutcome }
  | { kind: 'unavailable'; rule: 'suspended' | 'blocked'; outcome: HitOutcome }
  | { kind: 'gone'; rule: RedirectReason; outcome: HitOutcome }
  | { kind: 'password'; rule: RedirectReason; outcome: HitOutcome }

export function chooseDestination(link: CachedLink | null, context: RedirectContext): DestinationChoice {
  if (!link) return { kind: 'notFound', rule: 'unknown', outcome: 'missing' }
  if (link.plain) return go(link, context, 'destination', link.destinationUrl)
  if (link.suspended) return { kind: 'unavailable', rule: 'suspended', outcome: 'expired' }
  if (link.archived) return { kind: 'notFound', rule: 'archived', outcome: 'missing' }
  if (link.startsAt !== null && context.at < link.startsAt) {
    return { kind: 'notFound', rule: 'notStarted', outcome: 'missing' }
  }
  const closingRule = findClosingRule(link, context)
  if (closingRule) return gone(link, context, closingRule)
  if (link.passwordHash !== null && !context.unlocked) {
    return { kind: 'password', rule: 'password', outcome: 'password' }
  }
  const ruleIndex = link.rules && context.ruleVisitor ? findRule(link.rules, context.ruleVisitor) : -1
  const byRule = link.rules?.rules[ruleIndex]
  if (byRule !== undefined) return go(link, context, `rules.${ruleIndex}`, byRule.to)
  const byDevice = link.deviceTargeting?.[context.device]
  if (byDevice !== undefined) return go(link, context, 'device', byDevice)
  const byCountry = context.country === null ? undefined : link.geoTargeting?.[context.country]
  if (byCountry !== undefined) return go(link, context, 'geo', byCountry)
  const variant = link.split?.[context.variant ?? 0]
  if (variant !== undefined) {
    const label = context.variant === undefined ? undefined : variant.label
    return go(link, context, 'split', variant.url, label)
  }
  return go(link, context, 'destination', link.destinationUrl)
}

/** It is no click, because the visitor does not get to the destination. */
const BLOCKED: DestinationChoice = { kind: 'unavailable', rule: 'blocked', outcome: 'expired' }

function findClosingRule(link: CachedLink, context: RedirectContext): RedirectReason | undefined {
  if (link.expiresAt !== null && context.at >= link.expiresAt) return 'expired'
  if (link.clickLimit !== null && context.clicksUsedUp) return 'clickLimit'
  if (link.leadLimit !== null && link.leads >= link.leadLimit) return 'leadLimit'
  return undefined
}

/** The answer of a closed link. It is no click, because the visitor did not get to the destination. */
function gone(
  link: CachedLink,
  { schemes, isBlocked, domainExpiredUrl = null }: RedirectContext,
  rule: RedirectReason,
): DestinationChoice {
  const url = link.expiredUrl ?? domainExpiredUrl
  if (url === null || !isSafe(url, schemes)) return { kind: 'gone', rule, outcome: 'expired' }
  if (isBlocked?.(link, url)) return BLOCKED
  return {
    kind: 'go',
    rule: 'expiredUrl',
    url,
    // Temporary, whatever status the link has: its owner may open it again.
    status: 302,
    outcome: 'expired',
    addClickId: false,
  }
}

function go(
  link: CachedLink,
  context: RedirectContext,
  rule: RedirectReason,
  target: string,
  variant?: string,
): DestinationChoice {
  // Creating a link checks this too. A row that was written another way must not redirect to an unsafe scheme.
  if (!isSafe(target, context.schemes)) return { kind: 'gone', rule: 'unsafe', outcome: 'expired' }
  if (context.isBlocked?.(link, target)) return BLOCKED
  const { extraPath } = context
  if (extraPath && !isWebUrl(target)) return { kind: 'notFound', rule: 'unknown', outcome: 'missing' }
  const url = extraPath ? appendPath(target, extraPath) : target
  return {
    kind: 'go',
    rule,
    variant,
    url:
      link.forwardQuery || extraPath
        ? appendForwardedQuery(url, context.query, link.trackConversions || !isWebUrl(target))
        : url,
    status: link.redirectStatus,
    outcome: 'redirect',
    addClickId: link.trackConversions && isWebUrl(target),
  }
}

/** An app or a phone cannot use a click id, and may take it for a part of its number or address. */
const isWebUrl = (href: string) => href.startsWith('https:') || href.startsWith('http:')

/** Appends a path, as it was sent, before the destination's query. */
function appendPath(href: string, path: string): string {
  const [, base = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(href) ?? []
  return `${base.endsWith('/') ? base : `${base}/`}${path}${rest}`
}

/** A stored URL is the `href` of a parsed URL, so it begins with its scheme in lower case. */
function isSafe(href: string, schemes: string[]): boolean {
  return (
    href.startsWith('https://') ||
    href.startsWith('http://') ||
    schemes.some((scheme) => href.startsWith(scheme))
  )
}

/** Adds the short URL's query, without our own parameters and without names that the destination has itself. */
const appendForwardedQuery = (target: string, query: string, hidesClickId: boolean): string =>
  query === ''
    ? target
    : mergeQuery(
        target,
        query,
        (name, value) => !(name === 'qr' && value === '1') && !(hidesClickId && name === CLICK_ID_PARAMETER),
      )

/**
 * Replaces a click id that the destination has already, because somebody copied its URL from a browser. Pages read the
 * first one.
 */
export function withClickId(url: string, clickId: string): string {
  const hash = url.includes('#') ? url.indexOf('#') : url.length
  const bare = url.slice(0, hash).replace(OLD_CLICK_ID, '')
  return appendQuery(bare + url.slice(hash), [[CLICK_ID_PARAMETER, clickId]])
}

const OLD_CLICK_ID = new RegExp(`(?<=[?&])${CLICK_ID_PARAMETER}=[^&]*(&|$)`, 'g')
