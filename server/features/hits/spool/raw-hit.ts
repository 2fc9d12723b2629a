// A hit as it stands in the spool: what the request said, before anything is made of it. It alone holds an address,
// and only until it is described.

import type { HitOutcome, HitTrigger } from '../../../storage/hits/hit.ts'

export interface RawHit {
  /** Milliseconds since the epoch. */
  at: number
  workspaceId: number
  /** 0 where the slug is unknown. */
  linkId: number
  outcome: HitOutcome
  /** The method was HEAD. */
  head: boolean
  /** The browser said that it was fetching ahead of its person. */
  prefetch: boolean
  trigger: HitTrigger
  /** The client's IP as text. */
  address: string
  userAgent: string
  /** The Referer header as sent. */
  referrer: string
  /** The short URL's query without `?`. */
  query: string
  /** The destination's own query where it carries utm parameters, else ''. */
  destinationQuery: string
  /** Only where no link answered. */
  slug: string
}

/** Text fields in the order of the record, and the bytes of UTF-8 that each may take. */
export const TEXT_FIELDS = [
  ['address', 64],
  ['userAgent', 512],
  ['referrer', 2048],
  ['query', 2048],
  ['destinationQuery', 2048],
  ['slug', 760], // 190 characters of at most four bytes
] as const satisfies [keyof RawHit, number][]
