// The dimensions of views: their labels, the labels of their values, and the cards that show them, as in the dashboard.

export const DIMENSIONS = {
  linkId: 'Link',
  tagId: 'Tag',
  domain: 'Domain',
  slug: 'Slug',
  source: 'Source',
  channel: 'Channel',
  referrer: 'Referrer',
  referrerUrl: 'Referring page',
  utmSource: 'UTM source',
  utmMedium: 'UTM medium',
  utmCampaign: 'Campaign',
  utmTerm: 'UTM term',
  utmContent: 'UTM content',
  country: 'Country',
  region: 'Region',
  city: 'City',
  continent: 'Continent',
  device: 'Device',
  browser: 'Browser',
  os: 'Operating system',
  trigger: 'Trigger',
  variant: 'Variant',
  form: 'Form',
  page: 'Page',
} as const
export type Dimension = keyof typeof DIMENSIONS

export interface Card {
  title: string
  dimensions: readonly Dimension[]
}

export const CARDS: readonly Card[] = [
  { title: 'Links', dimensions: ['linkId', 'tagId', 'domain', 'slug'] },
  { title: 'Sources', dimensions: ['source', 'channel', 'referrer', 'referrerUrl'] },
  { title: 'Locations', dimensions: ['country', 'region', 'city', 'continent'] },
  { title: 'Campaigns', dimensions: ['utmCampaign', 'utmSource', 'utmMedium', 'utmTerm', 'utmContent'] },
  { title: 'Devices', dimensions: ['device', 'browser', 'os', 'trigger'] },
]

/** Leads have these besides. */
export const LEAD_CARD: Card = { title: 'Leads', dimensions: ['form', 'page'] }

const CONTINENT_NAMES: Record<string, string> = {
  AF: 'Africa',
  AN: 'Antarctica',
  AS: 'Asia',
  EU: 'Europe',
  NA: 'North America',
  OC: 'Oceania',
  SA: 'South America',
}

const countryNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })

const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

/** The label of a value that needs no name from the database. */
export function formatValue(dimension: Dimension, value: string): string {
  if (value === '(direct)') return 'Direct'
  switch (dimension) {
    case 'country':
      return /^[A-Z]{2}$/.test(value) ? (countryNames.of(value) ?? value) : value
    case 'continent':
      return CONTINENT_NAMES[value] ?? value
    case 'trigger':
      return value === 'qr' ? 'QR code' : capitalize(value)
    case 'channel':
      return capitalize(value)
    case 'linkId':
      return value === '0' ? 'No link' : `Link ${value}`
    case 'tagId':
      return `Tag ${value}`
    default:
      return dimension.startsWith('utm') && value === 'Unknown' ? 'None' : value
  }
}
