// The two calls by which a request becomes a hit: a short link's, whatever was answered, and a page's that was seen.

import { isPrefetch } from '../../lib/user-agent.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import type { Spool } from './spool/spool.ts'

export interface HitRequest {
  /** Milliseconds since the epoch. */
  at: number
  method: string
  headers: { get(name: string): string | null }
  /** The client's IP as text. */
  address: string
  /** The short URL's query without `?`. */
  query: string
}

export interface RedirectResult {
  outcome: HitOutcome
  workspaceId: number
  /** 0 where the slug is unknown. */
  linkId: number
  /** Where the redirect leads: its utm parameters speak where the short URL's do not. */
  destination?: string
  /** Only where no link answered. */
  slug?: string
}

/** Stores the hit in the spool and returns its id (0 when it has no place yet). Never throws, never waits. */
export function recordHit(spool: Pick<Spool, 'append'>, asked: HitRequest, answered: RedirectResult): number {
  const { at, method, headers, address, query } = asked
  const header = (name: string) => headers.get(name)
  return spool.append({
    at,
    workspaceId: answered.workspaceId,
    linkId: answered.linkId,
    outcome: answered.outcome,
    head: method === 'HEAD',
    prefetch: isPrefetch(header),
    trigger: query !== '' && /(?:^|&)qr=1(?:&|$)/.test(query) ? 'qr' : 'link',
    address,
    userAgent: headers.get('user-agent') ?? '',
    referrer: headers.get('referer') ?? '',
    query,
    destinationQuery: extractUtmQuery(answered.destination),
    slug: answered.slug ?? '',
  })
}

export interface PageViewHit {
  /** `landing` or `view`. */
  outcome: Extract<HitOutcome, 'landing' | 'view'>
  workspaceId: number
  /** Of the click that the page's address names; else 0. */
  linkId: number
  /** The utm parameters of the page's address. */
  utm: string
  /** Where the visitor came from; '' for another page of the same site. */
  referrer: string
}

/** The same for a page that was seen. */
export function recordPageView(
  spool: Pick<Spool, 'append'>,
  { at, headers, address }: Pick<HitRequest, 'at' | 'headers' | 'address'>,
  { utm, ...viewed }: PageViewHit,
): number {
  return spool.append({
    ...viewed,
    at,
    head: false,
    prefetch: isPrefetch((name) => headers.get(name)),
    trigger: 'link',
    address,
    userAgent: headers.get('user-agent') ?? '',
    query: utm,
    destinationQuery: '',
    slug: '',
  })
}

function extractUtmQuery(destination: string | undefined): string {
  if (destination === undefined || !destination.includes('utm_')) return ''
  const start = destination.indexOf('?')
  if (start === -1) return ''
  const end = destination.indexOf('#', start)
  return destination.slice(start + 1, end === -1 ? undefined : end)
}
