// Splits the short URLs of other tools into a host and a slug.

import { trimBoth } from '../../../lib/clean-text.ts'
import { isCleanText, percentDecode } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'

export interface ShortUrl {
  /** In lower case and ASCII. */
  host: string
  /** As a person reads it: percent-encoded letters and emoji are decoded. '' for the root of a domain. */
  slug: string
}

const HOST_WITH_DOT = /^(?:https?:\/\/)?[^/?#]*[^/?#.]\.[^/?#.]/i
/**
 * A host of an intranet, such as `https://go/menu` or `go/menu`. It has a letter, because a URL parser takes "123" for the
 * address 0.0.0.123, and `N/A` is no short URL.
 */
const SINGLE_LABEL =
  /^(?:https?:\/\/(?=[^/?#:]*\p{L})[^\s/?#:@.]+(?::\d+)?(?:[/?#]|$)|(?=[^/?#:]*\p{L})[^\s/?#:@.]{2,}(?::\d+)?\/)/iu

/** @param text with or without `https://` @returns null for text that is not a URL */
export function splitShortUrl(text: string): ShortUrl | null {
  if (!HOST_WITH_DOT.test(text) && !SINGLE_LABEL.test(text)) return null
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
  const url = parseUrl(hasScheme ? text : `https://${text}`)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  return { host: url.hostname, slug: toSlug(url.pathname) }
}

/** A host as it stands in a file, such as `https://Go.Example/`. @returns null for what is none */
export const toHost = (text: string): string | null =>
  (splitShortUrl(text) ?? splitShortUrl(`${text}/`))?.host ?? null

/** Without slashes around it, and decoded where the encoding is right. */
export function toSlug(path: string): string {
  const slug = trimBoth(path, '/')
  const decoded = percentDecode(slug)
  return isCleanText(decoded) ? decoded : slug
}
