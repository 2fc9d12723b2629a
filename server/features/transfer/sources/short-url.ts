// Splits the short URLs of other tools into a host and a slug.

import { trimBoth } from '../../../lib/clean-text.ts'
import { isCleanText, percentDecode } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'

export interface ShortUrl {
  /** In lower case and ASCII. */
  host: string
  /** With percent-encoded letters and emoji decoded. '' for the root of a domain. */
  slug: string
}

const HOST_WITH_DOT = /^(?:https?:\/\/)?[^/?#]*[^/?#.]\.[^/?#.]/i
/**
 * A host of an intranet, such as `https://go/menu` or `go/menu`. It must have a letter, because URL parsers read "123" as the
 * address 0.0.0.123. `N/A` is not a short URL.
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

/** Reads a host of a file, such as `https://Go.Example/`. @returns null if it is not a host */
export const toHost = (text: string): string | null =>
  (splitShortUrl(text) ?? splitShortUrl(`${text}/`))?.host ?? null

/** Removes slashes at the ends, and decodes the path if its encoding is valid. */
export function toSlug(path: string): string {
  const slug = trimBoth(path, '/')
  const decoded = percentDecode(slug)
  return isCleanText(decoded) ? decoded : slug
}
