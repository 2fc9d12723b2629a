// An entry of a list of origins: its rule, and the form in which it is stored.

import { parseUrl } from './web-url.ts'

/** A scheme, a host name of at most 253 characters with its wildcard, and a port. */
export const ORIGIN_MAX = 270

/** The URL parser refuses `*` in some hosts and allows it in the middle of others, so it never sees a wildcard. */
const WILDCARD = /^(https?:\/\/)\*\.(?=[^*]+$)/i

/**
 * Reads `https://example.com`, `http://localhost:3000` or `https://*.example.com` (any host below it, not the host
 * itself). @returns it in lower case and without the scheme's default port; undefined for anything else
 */
export function normalizeOrigin(text: string): string | undefined {
  const wildcard = WILDCARD.test(text)
  const plain = wildcard ? text.replace(WILDCARD, '$1') : text
  // An origin has no path. A lone `/` is allowed, because browsers show one behind an origin. The URL parser forgives
  // tabs and backslashes, so this pattern refuses them first.
  if (!/^https?:\/\/[^\s/\\?#@*]+\/?$/i.test(plain)) return undefined
  const url = parseUrl(plain)
  if (!url || url.hostname === '') return undefined
  if (!wildcard) return url.origin
  // `https://*.com` would allow everybody, and no host is below an IP address.
  const labels = url.hostname.replace(/\.$/, '').split('.')
  if (labels.length < 2 || /^\[|^[\d.]+$/.test(url.hostname)) return undefined
  return url.origin.replace('://', '://*.')
}
