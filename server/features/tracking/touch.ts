// A touch: what brought a visitor to a page. It is the click on a link, a campaign in the page's address, another site, or
// unknown.

import type { Campaign } from '../visitors/campaign.ts'

/** A touch has the first kind that applies, in this order. */
export const TOUCH_KINDS = ['click', 'campaign', 'referrer', 'direct'] as const
export type TouchKind = (typeof TOUCH_KINDS)[number]

export interface Touch extends Campaign {
  /** Milliseconds since the epoch. */
  at: number
  kind: TouchKind
  linkId: number | null
  /** As the page's address had it. */
  clickId: string | null
  /** The host without `www.` */
  referrer: string | null
  /** The page that the visitor came to, without its query. */
  landingUrl: string | null
}

/** Recognizes a page that is loaded again: it has the same address and referrer. All direct touches are the same. */
export function isSameTouch(a: Touch, b: Touch): boolean {
  if (a.kind !== b.kind) return false
  if (a.kind === 'click') return a.clickId === b.clickId
  if (a.kind === 'referrer') return a.referrer === b.referrer
  return (
    a.utmSource === b.utmSource &&
    a.utmMedium === b.utmMedium &&
    a.utmCampaign === b.utmCampaign &&
    a.utmTerm === b.utmTerm &&
    a.utmContent === b.utmContent
  )
}
