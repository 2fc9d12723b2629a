// What an entry of a form's list of allowed origins may be, and how it is stored.

/** A scheme, a host name of at most 253 characters with its wildcard, and a port. */
export const ORIGIN_MAX = 270

// The URL parser takes no `*` everywhere, and would let one stand in the middle of a name.
const WILDCARD = /^(https?:\/\/)\*\.(?=[^*]+$)/i

/**
 * `https://example.com`, `http://localhost:3000` or `https://*.example.com` (any host below it, not itself), in lower
 * case and without the scheme's own port. @returns undefined for anything else
 */
export function normalizeOrigin(text: string): string | undefined {
  const wildcard = WILDCARD.test(text)
  const plain = wildcard ? text.replace(WILDCARD, '$1') : text
  // An origin has no path; a lone `/` is what browsers show behind one. Tabs and backslashes, which the parser would
  // forgive, are no part of it.
  if (!/^https?:\/\/[^\s/\\?#@*]+\/?$/i.test(plain)) return undefined
  const url = URL.parse(plain)
  if (!url || url.hostname === '') return undefined
  if (!wildcard) return url.origin
  // `https://*.com` would be everybody, and an address has nothing below it.
  const labels = url.hostname.replace(/\.$/, '').split('.')
  if (labels.length < 2 || /^\[|^[\d.]+$/.test(url.hostname)) return undefined
  return url.origin.replace('://', '://*.')
}
