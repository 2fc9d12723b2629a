// Reads where a visitor came from, from the Referer header.

import { cleanText, cutText } from '../../lib/clean-text.ts'

const HOST_MAX = 253
/** Characters of a referring URL (docs/contract.md §16). */
const URL_MAX = 512
const DIRECT = { referrer: null, referrerUrl: null }

export interface Referrer {
  referrer: string | null
  referrerUrl: string | null
}

/** Cuts the query and the fragment off a URL of another site: they may hold secrets. */
export function stripQuery(header: string): string {
  const [query, fragment] = [header.indexOf('?'), header.indexOf('#')]
  if (query === -1) return fragment === -1 ? header : header.slice(0, fragment)
  return header.slice(0, fragment === -1 ? query : Math.min(query, fragment))
}

/** The Referer header, cut to what analytics show. `parseReferrer` reads the same from the cut text. */
export const cutReferrer = (header: string): string =>
  header === '' ? '' : cutText(stripQuery(header), URL_MAX)

/**
 * A visitor who comes from a page of this instance counts as direct.
 * @param header the Referer header after `stripQuery`
 */
export function parseReferrer(header: string, ownHosts: ReadonlySet<string>): Referrer {
  const url = header === '' ? null : URL.parse(header)
  // Apps send `android-app://com.google.android.gm/`. A URL of any other scheme is no referrer.
  if (!url || !/^(https?|android-app|ios-app):$/.test(url.protocol) || url.hostname === '') return DIRECT
  const host = url.host.toLowerCase()
  if (ownHosts.has(host) || ownHosts.has(stripWww(host))) return DIRECT
  return {
    referrer: cleanText(stripWww(url.hostname.toLowerCase()), HOST_MAX),
    referrerUrl: cleanText(`${url.protocol}//${host}${url.pathname}`, URL_MAX),
  }
}

/** Removes `www.` and the dot of the DNS root, which do not change the site. */
const stripWww = (host: string) => host.replace(/^www\.(?=[^.]+\.)/, '').replace(/\.(?=$|:)/, '')

/** @returns the host of a URL as `Referrer.referrer` has it; '' where the text is no URL */
export const toSiteHost = (url: string): string => stripWww(URL.parse(url)?.hostname.toLowerCase() ?? '')
