// Reads the campaign of a click: from the utm parameters of the short URL and of the destination, and from `ref` and the
// click ids of ad networks in the short URL.

import { cleanText, cutText } from '../../lib/clean-text.ts'

/** Characters of one value (docs/contract.md §16). */
export const UTM_MAX = 256

export interface Campaign {
  utmSource: string | null
  utmMedium: string | null
  utmCampaign: string | null
  utmTerm: string | null
  utmContent: string | null
}

export const pickCampaign = (from: Campaign): Campaign => {
  const { utmSource, utmMedium, utmCampaign, utmTerm, utmContent } = from
  return { utmSource, utmMedium, utmCampaign, utmTerm, utmContent }
}

export const hasCampaign = ({ utmSource, utmMedium, utmCampaign, utmTerm, utmContent }: Campaign) =>
  (utmSource ?? utmMedium ?? utmCampaign ?? utmTerm ?? utmContent) !== null

// A newline is in no URL. A query that holds one all the same ends there.
const SEPARATOR = '\n'

/**
 * The click ids of ad networks, and the sources that they stand for. Their values are not kept: the network knows which
 * person each names.
 */
const AD_NETWORKS: Record<string, string> = {
  gclid: 'google',
  gbraid: 'google',
  wbraid: 'google',
  dclid: 'google',
  msclkid: 'bing',
  fbclid: 'facebook',
  ttclid: 'tiktok',
  twclid: 'x',
  li_fat_id: 'linkedin',
  rdt_cid: 'reddit',
  epik: 'pinterest',
  sccid: 'snapchat',
  yclid: 'yandex',
}
const AD_CLICK = new RegExp(`(?:^|&)(${Object.keys(AD_NETWORKS).join('|')})=[^&]`, 'i')
const REF = /(?:^|&)(ref=[^&]*)/

/**
 * Extracts the parameters of a campaign from both queries as one text, which can be a cache key: the other parameters of a
 * query are never the same twice. A destination's `ref` names somebody else's campaign.
 */
export function extractUtmParameters(query: string, destinationQuery: string): string {
  if (query === '' && destinationQuery === '') return ''
  const short = extractCampaign(query)
  const destination = extractUtm(destinationQuery)
  return destination === '' ? short : `${short}${SEPARATOR}${destination}`
}

function extractCampaign(query: string): string {
  if (query === '') return ''
  const utm = extractUtm(query)
  const first = query.includes('ref=') ? REF.exec(query)?.[1] : undefined
  const ref = first === 'ref=' ? undefined : first
  const network = AD_CLICK.exec(query)?.[1]?.toLowerCase()
  if (ref === undefined && network === undefined) return utm
  return [utm, ref, network && `${network}=1`].filter(Boolean).join('&')
}

/** A loop: a regular expression takes ten times as long. */
function extractUtm(query: string): string {
  let parts = ''
  for (let at = query.indexOf('utm_'); at !== -1; at = query.indexOf('utm_', at)) {
    const next = query.indexOf('&', at)
    const end = next === -1 ? query.length : next
    if (at === 0 || query[at - 1] === '&')
      parts += parts === '' ? query.slice(at, end) : `&${query.slice(at, end)}`
    at = end
  }
  return parts
}

const UTM_NAMES = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'ref']
const isKept = (name: string) => UTM_NAMES.includes(name) || Object.hasOwn(AD_NETWORKS, name)
/** The longest encoding of a value that is not cut: four bytes for each character, and three characters for each byte. */
const ENCODED_MAX = UTM_MAX * 12

/**
 * The parameters of a campaign, cut to what analytics show. `parseCampaign` reads the same from the cut text.
 * @returns at most six parameters with a value of at most UTM_MAX characters each, and one click id without its value
 */
export function cutUtmParameters(query: string): string {
  const utm = extractCampaign(query)
  // Nearly all queries end here: no value can be too long.
  return utm.length <= UTM_MAX ? utm : cutValues(utm)
}

function cutValues(utm: string): string {
  const kept = new Map<string, string>()
  for (const part of utm.split('&', PARTS_MAX)) {
    const equals = part.indexOf('=')
    const name = equals < 0 ? part : part.slice(0, equals)
    // As for `URLSearchParams.get`, the first one counts.
    if (!isKept(name) || kept.has(name)) continue
    kept.set(name, cutValue(equals < 0 ? '' : part.slice(equals + 1)))
  }
  return Array.from(kept, ([name, value]) => `${name}=${value}`).join('&')
}

/** Seven names, and some repetitions of them. */
const PARTS_MAX = 50

function cutValue(encoded: string): string {
  if (encoded.length <= UTM_MAX) return encoded
  const value = new URLSearchParams(`v=${encoded.slice(0, ENCODED_MAX)}`).get('v') ?? ''
  // Only what has a meaning in a query is encoded: encoded letters take six times the bytes.
  return cutText(value, UTM_MAX).replace(/[%&+#\n]/g, encodeURIComponent)
}

/**
 * A parameter of the short URL wins over the same one of the destination. `ref` and click ids fill what both leave open: a
 * click id makes a click paid, unless a medium says how the visitor came.
 * @param parts see `extractUtmParameters`
 */
export function parseCampaign(parts: string): Campaign {
  const [short, destination] = parts.split(SEPARATOR, 2).map((query) => new URLSearchParams(query))
  const network = Object.keys(AD_NETWORKS).find((name) => short?.has(name))
  // An empty parameter counts as absent.
  const utm = (name: string, other: string | null = null) =>
    cleanText(short?.get(name) || destination?.get(name) || other || null, UTM_MAX)
  return {
    utmSource: utm('utm_source', short?.get('ref') || (network ? (AD_NETWORKS[network] ?? null) : null)),
    utmMedium: utm('utm_medium', network ? 'cpc' : null),
    utmCampaign: utm('utm_campaign'),
    utmTerm: utm('utm_term'),
    utmContent: utm('utm_content'),
  }
}
