// What clicks and leads can be told apart by: the words for it, who can be asked about it, and how a value is shown.

import { formatCountryName, formatPercent } from '../../../ui/format.ts'

export type Subject = 'clicks' | 'leads'

interface DimensionInfo {
  label: string
  many: string
  /** Of a hit alone, of a lead alone, or of both. */
  of?: Subject
  /** Values are ids: what is typed is no value. */
  ids?: true
}

export const DIMENSIONS = {
  linkId: { label: 'Link', many: 'Links', ids: true },
  tagId: { label: 'Tag', many: 'Tags', ids: true },
  domain: { label: 'Domain', many: 'Domains' },
  slug: { label: 'Slug', many: 'Slugs' },
  referrer: { label: 'Referrer', many: 'Referrers' },
  referrerUrl: { label: 'Referring page', many: 'Referring pages', of: 'clicks' },
  utmSource: { label: 'UTM source', many: 'Sources' },
  utmMedium: { label: 'UTM medium', many: 'Mediums' },
  utmCampaign: { label: 'UTM campaign', many: 'Campaigns' },
  utmTerm: { label: 'UTM term', many: 'Terms' },
  utmContent: { label: 'UTM content', many: 'Contents' },
  country: { label: 'Country', many: 'Countries' },
  region: { label: 'Region', many: 'Regions' },
  city: { label: 'City', many: 'Cities' },
  continent: { label: 'Continent', many: 'Continents' },
  device: { label: 'Device', many: 'Devices' },
  browser: { label: 'Browser', many: 'Browsers' },
  os: { label: 'System', many: 'Systems' },
  trigger: { label: 'Trigger', many: 'Triggers', of: 'clicks' },
  form: { label: 'Form', many: 'Forms', of: 'leads', ids: true },
  page: { label: 'Page', many: 'Pages', of: 'leads' },
} as const satisfies Record<string, DimensionInfo>

export type Dimension = keyof typeof DIMENSIONS
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as Dimension[]

export const getDimensionInfo = (dimension: Dimension): DimensionInfo => DIMENSIONS[dimension]
export const appliesTo = (dimension: Dimension, subject: Subject) => {
  const { of } = getDimensionInfo(dimension)
  return of === undefined || of === subject
}

export const HIT_CLASS_LABELS = {
  human: 'People',
  bot: 'Bots',
  prefetch: 'Prefetches',
  head: 'HEAD requests',
  all: 'Everyone',
} as const
export type HitClass = keyof typeof HIT_CLASS_LABELS

export const ATTRIBUTION_MODEL_LABELS = {
  last: 'Last touch',
  first: 'First touch',
  linear: 'All touches, shared',
} as const
export type AttributionModel = keyof typeof ATTRIBUTION_MODEL_LABELS

export const METRIC_LABELS = { clicks: 'Clicks', visitors: 'Visitors', leads: 'Leads' } as const
export type AnalyticsMetric = keyof typeof METRIC_LABELS

const CONTINENTS: Record<string, string> = {
  AF: 'Africa',
  AN: 'Antarctica',
  AS: 'Asia',
  EU: 'Europe',
  NA: 'North America',
  OC: 'Oceania',
  SA: 'South America',
}
const TRIGGERS: Record<string, string> = { link: 'Link', qr: 'QR code' }

/** How a value of the API is called; ids are named by those who know (`names.ts`). */
export function formatDimensionValue(dimension: Dimension, value: string): string {
  switch (dimension) {
    case 'country':
      return formatCountryName(value)
    case 'continent':
      return CONTINENTS[value] ?? value
    case 'trigger':
      return TRIGGERS[value] ?? value
    case 'referrer':
    case 'referrerUrl':
      return value === '(direct)' ? 'Direct' : value
    case 'linkId':
      return value === '0' ? 'No link' : `Link ${value}`
    case 'tagId':
      return `Tag ${value}`
    default:
      return dimension.startsWith('utm') && value === 'Unknown' ? 'None' : value
  }
}

/** What all links of a list are on need not be said: `/spring` for `go.example.com/spring`. */
export function createNameShortener(names: readonly (string | undefined)[]): (name: string) => string {
  const domainOf = (name: string) => name.slice(0, name.lastIndexOf('/'))
  const domains = new Set(names.flatMap((name) => (name ? [domainOf(name)] : [])))
  return domains.size === 1 ? (name) => name.slice(name.lastIndexOf('/')) : (name) => name
}

const rates = new Intl.NumberFormat(undefined, { style: 'percent', maximumSignificantDigits: 2 })
/** Few of many clicks become leads: 0.13 % is not 0.1 %. */
export const formatRate = (part: number) => (part < 0.1 ? rates.format(part) : formatPercent(part))
