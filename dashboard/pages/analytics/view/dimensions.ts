// The dimensions of clicks and leads: their labels, which of the two they apply to, and the labels of their values.

import type { Subject } from '../../../api/analytics.ts'
import { locale } from '../../../api/language.ts'
import { formatCountryName, formatPercent } from '../../../ui/format.ts'

interface DimensionInfo {
  label: string
  plural: string
  /** Set where the dimension applies only to clicks or only to leads. */
  subject?: Subject
  /** The values are ids, so that typed text is no value. */
  ids?: true
  /** The values are a closed list, so that typed text is no value either. */
  closed?: true
}

export const DIMENSIONS = {
  linkId: { label: 'Link', plural: 'Links', ids: true },
  tagId: { label: 'Tag', plural: 'Tags', ids: true },
  domain: { label: 'Domain', plural: 'Domains' },
  slug: { label: 'Slug', plural: 'Slugs' },
  variant: { label: 'Variant', plural: 'Variants' },
  source: { label: 'Source', plural: 'Sources' },
  channel: { label: 'Channel', plural: 'Channels', closed: true },
  referrer: { label: 'Referrer', plural: 'Referrers' },
  referrerUrl: { label: 'Referring page', plural: 'Referring pages', subject: 'clicks' },
  utmSource: { label: 'UTM source', plural: 'UTM sources' },
  utmMedium: { label: 'UTM medium', plural: 'Mediums' },
  utmCampaign: { label: 'UTM campaign', plural: 'Campaigns' },
  utmTerm: { label: 'UTM term', plural: 'Terms' },
  utmContent: { label: 'UTM content', plural: 'Contents' },
  country: { label: 'Country', plural: 'Countries' },
  region: { label: 'Region', plural: 'Regions' },
  city: { label: 'City', plural: 'Cities' },
  continent: { label: 'Continent', plural: 'Continents' },
  device: { label: 'Device', plural: 'Devices' },
  browser: { label: 'Browser', plural: 'Browsers' },
  os: { label: 'Operating system', plural: 'Operating systems' },
  trigger: { label: 'Trigger', plural: 'Triggers', subject: 'clicks', closed: true },
  form: { label: 'Form', plural: 'Forms', subject: 'leads', ids: true },
  page: { label: 'Page', plural: 'Pages', subject: 'leads' },
} as const satisfies Record<string, DimensionInfo>

/** A query parameter that the workspace keeps of its clicks. */
type ParamDimension = `param.${string}`
export type Dimension = keyof typeof DIMENSIONS | ParamDimension
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as (keyof typeof DIMENSIONS)[]

export const toParamDimension = (name: string): ParamDimension => `param.${name}`
export const isParamDimension = (name: string): name is ParamDimension => /^param\.[\w.-]{1,40}$/.test(name)

/** The tabs of the Sources card: from what people know to what browsers send. */
export const SOURCE_DIMENSIONS: readonly Dimension[] = ['source', 'channel', 'referrer', 'referrerUrl']

export function getDimensionInfo(dimension: Dimension): DimensionInfo {
  if (!isParamDimension(dimension)) return DIMENSIONS[dimension as keyof typeof DIMENSIONS]
  const name = dimension.slice('param.'.length)
  return { label: `Parameter ${name}`, plural: name, subject: 'clicks' }
}
export const appliesTo = (dimension: Dimension, subject: Subject) => {
  const info = getDimensionInfo(dimension)
  return info.subject === undefined || info.subject === subject
}

export const RATE_DEFINITION =
  'Leads from clicks in this period, divided by those clicks. Leads without a link don’t count.'

export const HIT_CLASS_LABELS = {
  human: 'People',
  bot: 'Bots',
  prefetch: 'Prefetches',
  head: 'HEAD requests',
  spam: 'Referrer spam',
  internal: 'Your team',
  'human,internal': 'People and your team',
  all: 'All traffic',
} as const
export type HitClass = keyof typeof HIT_CLASS_LABELS

export const ATTRIBUTION_MODEL_LABELS = {
  last: 'Last touch',
  first: 'First touch',
  linear: 'Linear',
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
export const TRAFFIC_CHANNEL_LABELS: Record<string, string> = {
  search: 'Search',
  social: 'Social',
  email: 'Email',
  direct: 'Direct',
  referral: 'Referral',
  paid: 'Paid',
}
export const TRIGGER_LABELS: Record<string, string> = { link: 'Link', qr: 'QR code' }

/** The words among the values of the API; the others are names. */
const VALUE_WORDS: Record<string, string> = {
  Unknown: 'Unknown',
  Other: 'Other',
  Mobile: 'Mobile',
  Tablet: 'Tablet',
  Desktop: 'Desktop',
  Console: 'Console',
  Wearable: 'Wearable',
}

/** The label of a value. Names of ids come from the API (use-value-names.ts). */
export function formatDimensionValue(dimension: Dimension, value: string): string {
  switch (dimension) {
    case 'country':
      return formatCountryName(VALUE_WORDS[value] ?? value)
    case 'region':
    case 'city':
    case 'device':
    case 'browser':
    case 'os':
      return VALUE_WORDS[value] ?? value
    case 'continent':
      return CONTINENTS[value] ?? value
    case 'trigger':
      return TRIGGER_LABELS[value] ?? value
    case 'channel':
      return TRAFFIC_CHANNEL_LABELS[value] ?? value
    case 'source':
    case 'referrer':
    case 'referrerUrl':
      return value === '(direct)' ? 'Direct' : value
    case 'linkId':
      return value === '0' ? 'No link' : `Link ${value}`
    case 'variant':
      return value === 'Unknown' ? 'No variant' : value
    case 'tagId':
      return `Tag ${value}`
    default:
      return /^(?:utm|param\.)/.test(dimension) && value === 'Unknown' ? 'None' : value
  }
}

/** Shortens `go.example.com/spring` to `/spring` where all links of a list have the same domain. */
export function createNameShortener(names: readonly (string | undefined)[]): (name: string) => string {
  // A slug may have slashes too.
  const toDomain = (name: string) => name.slice(0, name.indexOf('/'))
  const domains = new Set(names.flatMap((name) => (name ? [toDomain(name)] : [])))
  return domains.size === 1 ? (name) => name.slice(name.indexOf('/')) : (name) => name
}

const rates = new Intl.NumberFormat(locale, { style: 'percent', maximumSignificantDigits: 2 })
/** Small rates keep two significant digits: 0.13 %, not 0.1 %. */
export const formatRate = (part: number) => (part < 0.1 ? rates.format(part) : formatPercent(part))
