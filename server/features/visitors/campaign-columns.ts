// Converts a campaign to and from the columns of a row.

import type { Campaign } from './campaign.ts'

export interface CampaignColumns {
  utm_source: string | null
  utm_medium: string | null
  utm_campaign: string | null
  utm_term: string | null
  utm_content: string | null
}

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
