// A campaign between the shape of our code and the columns of a row.

import type { Campaign } from './campaign.ts'

export interface CampaignColumns {
  utm_source: string | null
  utm_medium: string | null
  utm_campaign: string | null
  utm_term: string | null
  utm_content: string | null
}

/** From a row's columns. The other direction is `toCampaignColumns`. */
export const toCampaign = (row: CampaignColumns): Campaign => ({
  utmSource: row.utm_source,
  utmMedium: row.utm_medium,
  utmCampaign: row.utm_campaign,
  utmTerm: row.utm_term,
  utmContent: row.utm_content,
})

export const toCampaignColumns = (campaign: Campaign): CampaignColumns => ({
  utm_source: campaign.utmSource,
  utm_medium: campaign.utmMedium,
  utm_campaign: campaign.utmCampaign,
  utm_term: campaign.utmTerm,
  utm_content: campaign.utmContent,
})
