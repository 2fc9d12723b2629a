// Where a lead came from, as the one line that notifications end with.

import { toOneLine, truncateText } from './safe-text.ts'

export interface AttributionFacts {
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  /** `https://go.example/abc` */
  shortUrl: string | null
  /** Nobody knows yet whether a link brought it. */
  isPending: boolean
  city: string | null
  country: string | null
  device: string | null
  /** Host the visitor came from. */
  referrer: string | null
}

// Campaign parameters are typed by whoever made the link, or by anybody into their address bar.
const PART_MAX = 80
const PENDING = 'Link not decided yet: analytics are catching up'

/** `newsletter / spring · go.example/abc · Berlin, DE · iPhone`: what is known of it, or ''. */
export function formatAttributionLine(facts: AttributionFacts): string {
  const part = (text: string | null) => truncateText(toOneLine(text ?? '').replaceAll('·', '-'), PART_MAX)
  const join = (texts: (string | null)[], by: string) => texts.map(part).filter(Boolean).join(by)
  const campaign = join([facts.utmSource, facts.utmMedium, facts.utmCampaign], ' / ')
  return [
    // A campaign says more than the page that it was read on.
    campaign || part(facts.referrer),
    facts.isPending ? PENDING : part(facts.shortUrl?.replace(/^https?:\/\//, '') ?? null),
    join([facts.city, facts.country], ', '),
    part(facts.device),
  ]
    .filter(Boolean)
    .join(' · ')
}
