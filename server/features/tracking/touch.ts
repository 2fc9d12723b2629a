// What brought a visitor to a page: the click on a link, a campaign in the page's address, another site, or nothing known.

import type { Campaign } from '../visitors/campaign.ts'

/** The first that is known, in this order. */
export const TOUCH_KINDS = ['click', 'campaign', 'referrer', 'direct'] as const
export type TouchKind = (typeof TOUCH_KINDS)[number]

export interface Touch extends Campaign {
  /** Milliseconds since the epoch. */
  at: number
  kind: TouchKind
  linkId: number | null
  /** As it stood in the address. */
  clickId: string | null
  /** Host without `www.` */
  referrer: string | null
  /** The page it led to, without its query. */
  landingUrl: string | null
}

/**
 * The same touch seen twice: a page that is loaded again still has its address and its referrer. (What is direct is not
 * told apart.)
 */
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
