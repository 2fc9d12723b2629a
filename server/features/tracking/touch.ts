// A touch: what brought a visitor to a page. It is the click on a link, a campaign in the page's address, another site, or
// unknown.

import { extractAdClickIds } from '../visitors/ad-click-ids.ts'
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
  /** The click ids of ad networks in that page's query, as `extractAdClickIds` answers them. Nothing keeps them by itself. */
  adClickIds?: string
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

/**
 * Adds the click ids of ad networks in the page's address, for the submission of a form that keeps them. Hits never have
 * them: in between, only the sealed event id does, which the visitor's tab keeps.
 */
export function addAdClickIds<Page extends { touch: Touch }>(page: Page, url: string): Page {
  const adClickIds = extractAdClickIds(/\?([^#]*)/.exec(url)?.[1] ?? '')
  return adClickIds === undefined ? page : { ...page, touch: { ...page.touch, adClickIds } }
}
