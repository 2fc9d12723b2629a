// Who sent a form and from where, as far as a request without the snippet tells: device, place, page and campaign.

export interface Sender {
  /** The visitor id of the day, as hits have it: a decimal number of 64 bits. */
  visitor: string
  device: string | null
  browser: string | null
  os: string | null
  country: string | null
  region: string | null
  city: string | null
  /** Host the visitor came from. */
  referrer: string | null
  /** The page with the form, without its query. */
  pageUrl: string | null
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  utmTerm: string | null
  utmContent: string | null
}

export type DescribeSender = (asked: {
  at: number
  workspaceId: number
  address: string
  userAgent: string
  /** The Referer header, or ''. */
  referer: string
}) => Sender
