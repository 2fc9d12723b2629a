// A raw hit: one request as the spool stores it, before the enricher turns it into a `Hit`. Only a raw hit has the
// client's address, which the spool erases once the hit is in a batch.

import type { HitOutcome, HitTrigger } from '../../../storage/hits/hit.ts'

export interface RawHit {
  /** Milliseconds since the epoch. */
  at: number
  workspaceId: number
  /** 0 if the slug is unknown. */
  linkId: number
  outcome: HitOutcome
  /** The method was HEAD. */
  head: boolean
  /** The browser marked the request as a prefetch. */
  prefetch: boolean
  /** The request came from a member of the workspace. */
  internal: boolean
  /** The workspace ignores the referrer. */
  ignored: boolean
  trigger: HitTrigger
  /** The client's IP as text. */
  address: string
  userAgent: string
  /**
   * The Referer header without its query, cut to the length in analytics. (An earlier version stored the whole
   * header.)
   */
  referrer: string
  /** See `toSpooledQuery`. */
  query: string
  /** The destination's own query if it has utm parameters, else ''. */
  destinationQuery: string
  /** The label of the split's variant, or ''. An earlier version stored unknown slugs here, with link 0. */
  variant: string
}

/** The text fields in the order of the record, each with its limit in bytes of UTF-8: part of the spool's format. */
export const TEXT_FIELDS = [
  ['address', 64],
  ['userAgent', 512],
  ['referrer', 2048],
  ['query', 6144], // 4,100 of kept parameters: five names with 128 escaped characters each
  ['destinationQuery', 2048],
  ['variant', 760], // 190 characters of at most four bytes
] as const satisfies [keyof RawHit, number][]

/**
 * The kept parameters of the short URL's query, as JSON, before its utm parameters. (Earlier versions stored only the utm
 * parameters, or the whole query.)
 */
export const toSpooledQuery = (params: string, utm: string): string =>
  params === '' ? utm : `${params}\n${utm}`

export function splitSpooledQuery(query: string): { params: string | null; utm: string } {
  // A query contains no line breaks.
  const end = query.startsWith('{') ? query.indexOf('}\n') : -1
  return end === -1
    ? { params: null, utm: query }
    : { params: query.slice(0, end + 1), utm: query.slice(end + 2) }
}
