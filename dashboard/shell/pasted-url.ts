// Recognizes a web address in the palette's text.

import { stripAroundUrl } from '../ui/forms/strip-around-url.ts'

const URL_MAX = 8192
const WITH_SCHEME = /^https?:\/\/\S+$/i
/** A host with a dot and a top-level domain, such as `example.com/x`. An email address is none. */
const WITHOUT_SCHEME = /^[a-z\d-]+(\.[a-z\d-]+)*\.[a-z]{2,}(:\d+)?([/?#]\S*)?$/i

/** The address with its scheme; undefined for a text that cannot be the destination of a link. */
export function findPastedUrl(text: string): string | undefined {
  const trimmed = stripAroundUrl(text)
  const url = WITH_SCHEME.test(trimmed)
    ? trimmed
    : WITHOUT_SCHEME.test(trimmed)
      ? `https://${trimmed}`
      : undefined
  const parsed = url === undefined || url.length > URL_MAX ? null : URL.parse(url)
  return parsed && parsed.username === '' && parsed.password === '' ? url : undefined
}

/** Characters that a text has after a short URL, or that people add to see its destination. */
const BEHIND_SLUG = /^[\p{P}\p{Z}\p{C}<>|~^`=$/+]*$/u

/**
 * Whether the address is the short URL of a found link. The server has names that the dashboard does not know. A
 * destination is never on one of them.
 */
export function isShortUrlOf(
  url: string,
  { slug, destinationUrl }: { slug: string; destinationUrl: string },
) {
  const { host, pathname } = new URL(url)
  if (URL.parse(destinationUrl)?.host === host) return false
  const path = toReadable(pathname.slice(1)).toLowerCase()
  return path.startsWith(slug.toLowerCase()) && BEHIND_SLUG.test(path.slice(slug.length))
}

function toReadable(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Whether the address is on one of the hosts that short links are on. A domain of a workspace has no port in its name. */
export function isOnHost(url: string, hosts: string[]): boolean {
  const { host, hostname } = new URL(url)
  return hosts.includes(host) || hosts.includes(hostname)
}
