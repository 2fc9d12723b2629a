// Splits the short URLs of other tools into a host and a slug.

import { trimBoth } from '../../../lib/clean-text.ts'
import { isCleanText, percentDecode } from '../../../lib/text.ts'

export interface ShortUrl {
  /** In lower case and ASCII. */
  host: string
  /** As a person reads it: percent-encoded letters and emoji are decoded. '' for the root of a domain. */
  slug: string
}

/**
 * A host has at most 253 characters (RFC 1035 §2.3.4); a port, or a name and a password, may stand beside it. To parse a
 * host (IDNA) takes a time that grows with the square of its length.
 */
export const AUTHORITY_MAX = 253 + 100

/** @param text with or without `https://` @returns null for what is no URL */
export function splitShortUrl(text: string): ShortUrl | null {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0]
  // A URL parser takes "123" for the address 0.0.0.123.
  if (!/^(?:https?:\/\/)?[^/?#]*[^/?#.]\.[^/?#.]/i.test(text)) return null
  const start = text.slice(scheme?.length, AUTHORITY_MAX + (scheme?.length ?? 0) + 1)
  if (start.length > AUTHORITY_MAX && !/[/?#]/.test(start)) return null
  const url = URL.parse(scheme === undefined ? `https://${text}` : text)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  return { host: url.hostname, slug: toSlug(url.pathname) }
}

/** A host as it stands in a file, such as `https://Go.Example/`. @returns null for what is none */
export const toHost = (text: string): string | null => splitShortUrl(text)?.host ?? null

/** Without slashes around it, and decoded where the encoding is right. */
export function toSlug(path: string): string {
  const slug = trimBoth(path, '/')
  const decoded = percentDecode(slug)
  return isCleanText(decoded) ? decoded : slug
}
