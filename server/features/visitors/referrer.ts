// Where a visitor came from, by the Referer header.

import { cleanText } from '../../lib/clean-text.ts'

const HOST_MAX = 253
const URL_MAX = 1024
const DIRECT = { referrer: null, referrerUrl: null }

export interface Referrer {
  referrer: string | null
  referrerUrl: string | null
}

/** What we keep of a foreign URL: the rest may hold secrets. */
export function stripQuery(header: string): string {
  const [query, fragment] = [header.indexOf('?'), header.indexOf('#')]
  if (query === -1) return fragment === -1 ? header : header.slice(0, fragment)
  return header.slice(0, fragment === -1 ? query : Math.min(query, fragment))
}

/**
 * Whoever comes from one of our own pages comes directly.
 * @param header without its query
 */
export function parseReferrer(header: string, ownHosts: ReadonlySet<string>): Referrer {
  const url = header === '' ? null : URL.parse(header)
  // Apps send `android-app://com.google.android.gm/`; anything else is not a place one comes from.
  if (!url || !/^(https?|android-app|ios-app):$/.test(url.protocol) || url.hostname === '') return DIRECT
  const host = url.host.toLowerCase()
  if (ownHosts.has(host) || ownHosts.has(stripWww(host))) return DIRECT
  return {
    referrer: cleanText(stripWww(url.hostname.toLowerCase()), HOST_MAX),
    referrerUrl: cleanText(`${url.protocol}//${host}${url.pathname}`, URL_MAX),
  }
}

/** `www.` and the root's dot name the same site. */
const stripWww = (host: string) => host.replace(/^www\.(?=[^.]+\.)/, '').replace(/\.(?=$|:)/, '')
