// The last line of a notification: where the lead came from.

import { toOneLine, truncateText } from '../channels/safe-text.ts'

export interface AttributionFacts {
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  /** `https://go.example/abc` */
  shortUrl: string | null
  /** The link that brought the lead is not decided yet. */
  isPending: boolean
  city: string | null
  country: string | null
  device: string | null
  /** The host of the page that the visitor came from. */
  referrer: string | null
}

/** Anybody can write a campaign parameter of any length into an address. */
const PART_MAX = 80
const PENDING = 'Link pending: analytics are catching up'

/** @returns such as `newsletter / spring · go.example/abc · Berlin, DE · iPhone`; '' where nothing is known */
export function formatAttributionLine(facts: AttributionFacts): string {
  const format = (text: string | null) => truncateText(toOneLine(text ?? '').replaceAll('·', '-'), PART_MAX)
  const join = (texts: (string | null)[], separator: string) =>
    texts.map(format).filter(Boolean).join(separator)
  const campaign = join([facts.utmSource, facts.utmMedium, facts.utmCampaign], ' / ')
  return [
    // The campaign says more than the page that showed it.
    campaign || format(facts.referrer),
    facts.isPending ? PENDING : format(facts.shortUrl?.replace(/^https?:\/\//, '') ?? null),
    join([facts.city, facts.country], ', '),
    format(facts.device),
  ]
    .filter(Boolean)
    .join(' · ')
}
