// Records hits in the spool: one call for each request to a short link, with any result, and one for each page view.

import { isPrefetch } from '../../lib/user-agent.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import { cutUtmParameters, UTM_MAX } from '../visitors/campaign.ts'
import { cutReferrer } from '../visitors/referrer.ts'
import type { TrafficMarks } from '../visitors/traffic-directory.ts'
import { toSpooledQuery } from './spool/raw-hit.ts'
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
  linkId: number
  /** The target of the redirect. Its utm parameters count if the short URL has none. */
  destination?: string
  /** The label of the split's variant. */
  variant?: string
  /** JSON of the query parameters that the workspace keeps; '' without any. */
  params?: string
  marks: TrafficMarks
}

/**
 * Stores the hit in the spool and returns its id, or 0 if the hit waits in memory, is left out or is lost. Never throws and
 * never waits. Cuts visitors' texts to the length in analytics, so that long ones do not fill the disk.
 */
export function recordHit(spool: Pick<Spool, 'append'>, request: HitRequest, result: RedirectResult): number {
  const { at, method, headers, address, query } = request
  const header = (name: string) => headers.get(name)
  return spool.append({
    at,
    workspaceId: result.workspaceId,
    linkId: result.linkId,
    outcome: result.outcome,
    head: method === 'HEAD',
    prefetch: isPrefetch(header),
    internal: result.marks.internal,
    ignored: result.marks.ignored,
    trigger: query !== '' && /(?:^|&)qr=1(?:&|$)/.test(query) ? 'qr' : 'link',
    address,
    userAgent: headers.get('user-agent') ?? '',
    referrer: cutReferrer(headers.get('referer') ?? ''),
    query: query === '' ? '' : toSpooledQuery(result.params ?? '', cutUtmParameters(query)),
    destinationQuery: extractUtmQuery(result.destination),
    variant: result.variant ?? '',
  })
}

export interface PageViewHit {
  outcome: Extract<HitOutcome, 'landing' | 'view'>
  workspaceId: number
  /** The link of the click id in the page's address; else 0. */
  linkId: number
  /** The utm parameters of the page's address. */
  utm: string
  /** The referring page; '' for a page of the same site. */
  referrer: string
  marks: TrafficMarks
}

/** Stores the hit of a page view, with the result of `recordHit`. */
export function recordPageView(
  spool: Pick<Spool, 'append'>,
  { at, headers, address }: Pick<HitRequest, 'at' | 'headers' | 'address'>,
  { utm, referrer, marks, ...pageView }: PageViewHit,
): number {
  return spool.append({
    ...pageView,
    internal: marks.internal,
    ignored: marks.ignored,
    referrer: cutReferrer(referrer),
    at,
    head: false,
    prefetch: isPrefetch((name) => headers.get(name)),
    trigger: 'link',
    address,
    userAgent: headers.get('user-agent') ?? '',
    query: utm === '' ? '' : cutUtmParameters(utm),
    destinationQuery: '',
    variant: '',
  })
}

function extractUtmQuery(destination: string | undefined): string {
  if (destination === undefined || !destination.includes('utm_')) return ''
  const start = destination.indexOf('?')
  if (start === -1) return ''
  const end = destination.indexOf('#', start)
  const query = destination.slice(start + 1, end === -1 ? undefined : end)
  return query.length <= UTM_MAX ? query : cutUtmParameters(query)
}
