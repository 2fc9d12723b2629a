// The source and the channel of a click, a page view or a lead, by its referrer and its campaign. `origin-sql.ts` says the
// same in SQL.

import { KNOWN_SOURCES, type KnownSource, type SourceKind } from './known-sources.ts'

/** The kinds of ways that bring a visitor. Channels of notifications are something else: docs/glossary.md. */
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

/** Words of `utm_source` that name no source, but say the channel. */
const CHANNEL_WORDS = readWords({
  paid: 'google-ads googleads adwords bing-ads bingads microsoft-ads facebook-ads fb-ads meta-ads linkedin-ads tiktok-ads',
  email: 'email e-mail mail newsletter',
})

/** Medium and source are compared without regard to case, and `_` and spaces are dashes. */
export const toWord = (text: string) => text.toLowerCase().replaceAll('_', '-').replaceAll(' ', '-')

/** `utm_source` as `toWord` writes it. */
export const CHANNEL_BY_WORD: ReadonlyMap<string, TrafficChannel> = new Map([
  ...KNOWN_SOURCES.flatMap(({ kind, words }) =>
    words.map((word) => [toWord(word), CHANNEL_BY_KIND[kind]] as const),
  ),
  ...CHANNEL_WORDS,
])

const sourceByHost = new Map(
  KNOWN_SOURCES.flatMap((source) => source.hosts.map((host) => [host, source] as const)),
)
const names: ReadonlySet<string> = new Set(KNOWN_SOURCES.map(({ name }) => name))
export const isSourceName = (text: string) => names.has(text)

const nameByText = new Map(KNOWN_SOURCES.map(({ name }) => [name.toLowerCase(), name]))

/** A subdomain belongs to the longest entry of the list that it ends with. */
export function findKnownSource(host: string): KnownSource | undefined {
  const labels = host.split('.')
  const ends = [labels, labels.slice(-3), labels.slice(-2)]
  return ends.map((end) => sourceByHost.get(end.join('.'))).find((source) => source !== undefined)
}

/** The name of a known source, else the host itself. null when the visitor came directly. */
export const toSource = ({ referrer }: Pick<Origin, 'referrer'>): string | null =>
  referrer === null ? null : (findKnownSource(referrer)?.name ?? referrer)

/** The source that a person means by a text: a name in any case, or a host of the source. */
export const readSource = (text: string): string => {
  const host = text.toLowerCase().replace(/^www\./, '')
  return nameByText.get(text.toLowerCase()) ?? findKnownSource(host)?.name ?? host
}

/** The campaign decides first: the link's maker chose it. */
export function toTrafficChannel({ referrer, utmSource, utmMedium }: Origin): TrafficChannel {
  const medium = toWord(utmMedium ?? '')
  const byCampaign = CHANNEL_BY_MEDIUM.get(medium) ?? (medium.startsWith(PAID_PREFIX) ? 'paid' : undefined)
  const byWord = byCampaign ?? CHANNEL_BY_WORD.get(toWord(utmSource ?? ''))
  if (byWord) return byWord
  if (referrer === null || referrer === '') return 'direct'
  const known = findKnownSource(referrer)
  return known ? CHANNEL_BY_KIND[known.kind] : 'referral'
}
