// Reads the campaign of a click from the utm parameters of the short URL and of the destination.

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
 * Extracts the utm parameters of both queries as one text, which can be a cache key: the other parameters of a query,
 * click ids among them, are never the same twice.
 */
export function extractUtmParameters(query: string, destinationQuery: string): string {
  if (query === '' && destinationQuery === '') return ''
  const short = extractUtm(query)
  const destination = extractUtm(destinationQuery)
  return destination === '' ? short : `${short}${SEPARATOR}${destination}`
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

const UTM_NAMES = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content']
/** The longest encoding of a value that is not cut: four bytes for each character, and three characters for each byte. */
const ENCODED_MAX = UTM_MAX * 12

/**
 * The utm parameters of a query, cut to what analytics show. `parseCampaign` reads the same from the cut text.
 * @returns at most five parameters, each with a value of at most UTM_MAX characters
 */
export function cutUtmParameters(query: string): string {
  const utm = extractUtm(query)
  // Nearly all queries end here: no value can be too long.
  return utm.length <= UTM_MAX ? utm : cutValues(utm)
}

function cutValues(utm: string): string {
  const kept = new Map<string, string>()
  for (const part of utm.split('&', PARTS_MAX)) {
    const equals = part.indexOf('=')
    const name = equals < 0 ? part : part.slice(0, equals)
    // As for `URLSearchParams.get`, the first one counts.
    if (!UTM_NAMES.includes(name) || kept.has(name)) continue
    kept.set(name, cutValue(equals < 0 ? '' : part.slice(equals + 1)))
  }
  return Array.from(kept, ([name, value]) => `${name}=${value}`).join('&')
}

/** Five names, and some repetitions of them. */
const PARTS_MAX = 50

function cutValue(encoded: string): string {
  if (encoded.length <= UTM_MAX) return encoded
  const value = new URLSearchParams(`v=${encoded.slice(0, ENCODED_MAX)}`).get('v') ?? ''
  // Only what has a meaning in a query is encoded: encoded letters take six times the bytes.
  return cutText(value, UTM_MAX).replace(/[%&+#\n]/g, encodeURIComponent)
}

/** @param parts see `extractUtmParameters`. A parameter of the short URL wins over the same one of the destination. */
export function parseCampaign(parts: string): Campaign {
  const [short, destination] = parts.split(SEPARATOR, 2).map((query) => new URLSearchParams(query))
  // An empty parameter counts as absent.
  const utm = (name: string) => cleanText(short?.get(name) || destination?.get(name) || null, UTM_MAX)
  return {
    utmSource: utm('utm_source'),
    utmMedium: utm('utm_medium'),
    utmCampaign: utm('utm_campaign'),
    utmTerm: utm('utm_term'),
    utmContent: utm('utm_content'),
  }
}
