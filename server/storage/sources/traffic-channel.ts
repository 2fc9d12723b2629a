// The source and the channel of a click, a page view or a lead, from its referrer and its campaign. `origin-sql.ts` has the
// same rules in SQL.

import { trimBoth } from '../../lib/clean-text.ts'
import { KNOWN_SOURCES, type KnownSource, type SourceKind } from './known-sources.ts'

/** The channels of visitors. Channels of notifications are something else: docs/glossary.md. */
export const TRAFFIC_CHANNELS = ['search', 'social', 'email', 'direct', 'referral', 'paid'] as const
export type TrafficChannel = (typeof TRAFFIC_CHANNELS)[number]

/** The origin of a visitor, as a hit or a touch records it. */
export interface Origin {
  /** A host in lower case without `www.`; null when the visitor came directly. */
  referrer: string | null
  utmSource: string | null
  utmMedium: string | null
}

export const CHANNEL_BY_KIND: Record<SourceKind, TrafficChannel> = {
  search: 'search',
  social: 'social',
  video: 'social',
  email: 'email',
  // An assistant names pages as a site does, and shows no list of results.
  ai: 'referral',
  ads: 'paid',
  site: 'referral',
}

const readWords = (words: Partial<Record<TrafficChannel, string>>): ReadonlyMap<string, TrafficChannel> =>
  new Map(
    TRAFFIC_CHANNELS.flatMap((channel) =>
      (words[channel]?.split(' ') ?? []).map((word) => [word, channel] as const),
    ),
  )

/** `utm_medium` as `toWord` writes it. A medium that begins with PAID_PREFIX is paid too. */
export const CHANNEL_BY_MEDIUM = readWords({
  paid:
    'cpc ppc cpm cpv cpa cpl cpp sem ad ads display banner retargeting remarketing interstitial expandable sponsored ' +
    'sponsorship',
  email: 'email e-mail mail newsletter edm',
  social: 'social social-media social-network social-organic organic-social sm',
  search: 'organic search seo organic-search',
  referral: 'referral affiliate affiliates partner pr',
})
export const PAID_PREFIX = 'paid'

/** A medium is compared without regard to case, and `_` and spaces are dashes. */
export const toWord = (text: string) => text.toLowerCase().replaceAll('_', '-').replaceAll(' ', '-')

const toLower = (utmSource: string) => utmSource.toLowerCase().replaceAll('www.', '')

/** A known source is found without regard to case, blanks, `_` and `-`. */
export const toSourceWord = (utmSource: string) => toLower(utmSource).replace(/[ _-]/g, '')

/** The meaning of a word of `utm_source`. */
export interface SourceWord {
  channel: TrafficChannel
  /** '' for a word that only decides the channel. */
  source: string
}

/** `utm_source` as `toSourceWord` writes it. */
export const SOURCE_WORDS: ReadonlyMap<string, SourceWord> = new Map([
  ...KNOWN_SOURCES.flatMap(({ name, kind, words }) =>
    words.map((word) => [toSourceWord(word), { channel: CHANNEL_BY_KIND[kind], source: name }] as const),
  ),
  ...['email', 'mail', 'newsletter'].map((word) => [word, { channel: 'email', source: '' }] as const),
  ...listAdWords({
    Google: 'googleads adwords googleadwords',
    Bing: 'bingads microsoftads',
    Facebook: 'facebookads fbads metaads',
    Instagram: 'instagramads igads',
    LinkedIn: 'linkedinads',
    TikTok: 'tiktokads',
  }),
])

/** The words of campaigns in a network of ads. */
function listAdWords(words: Record<string, string>): [string, SourceWord][] {
  return Object.entries(words).flatMap(([source, list]) =>
    list.split(' ').map((word): [string, SourceWord] => [word, { channel: 'paid', source }]),
  )
}

const sourceByHost = new Map(
  KNOWN_SOURCES.flatMap((source) => source.hosts.map((host) => [host, source] as const)),
)
/** A subdomain belongs to the longest entry of the list that it ends with. */
export function findKnownSource(host: string): KnownSource | undefined {
  const labels = host.split('.')
  const ends = [labels, labels.slice(-3), labels.slice(-2)]
  return ends.map((end) => sourceByHost.get(end.join('.'))).find((source) => source !== undefined)
}

/** Normalizes an unknown `utm_source`, so that its spellings are one source. */
export const toSourceText = (utmSource: string) =>
  trimBoth(toLower(utmSource).replaceAll('  ', ' ').replaceAll('  ', ' '), ' ')

/** Finds the meaning of a campaign's source: a word, or a host of a known source. */
function findSourceWord(utmSource: string): SourceWord | undefined {
  const known = SOURCE_WORDS.get(toSourceWord(utmSource))
  if (known) return known
  const source = sourceByHost.get(toLower(utmSource))
  return source && { channel: CHANNEL_BY_KIND[source.kind], source: source.name }
}

type SourceColumns = Pick<Origin, 'referrer'> & Partial<Pick<Origin, 'utmSource'>>

/**
 * The campaign comes first, because the author of the link chose it. Returns the name of a known source, else `utm_source` or the
 * host itself; null if the visitor came directly.
 */
export function toSource({ referrer, utmSource = null }: SourceColumns): string | null {
  const named = findSourceWord(utmSource ?? '')?.source || toSourceText(utmSource ?? '')
  if (named !== '') return named
  return referrer === null ? null : (findKnownSource(referrer)?.name ?? referrer)
}

/** Finds the source for a text from a person: a name in any case, a host of the source, or a `utm_source`. */
export const readSource = (text: string): string =>
  findKnownSource(toLower(text))?.name ?? toSource({ referrer: null, utmSource: text }) ?? text

/** The campaign comes first, because the author of the link chose it. */
export function toTrafficChannel({ referrer, utmSource, utmMedium }: Origin): TrafficChannel {
  const medium = toWord(utmMedium ?? '')
  const byCampaign = CHANNEL_BY_MEDIUM.get(medium) ?? (medium.startsWith(PAID_PREFIX) ? 'paid' : undefined)
  const byWord = byCampaign ?? findSourceWord(utmSource ?? '')?.channel
  if (byWord) return byWord
  if (referrer === null || referrer === '') return 'direct'
  const known = findKnownSource(referrer)
  return known ? CHANNEL_BY_KIND[known.kind] : 'referral'
}
