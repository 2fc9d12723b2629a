// URLs that browsers see. The check of a destination reads the parsed URL and never the string: parsers drop tabs and
// newlines, fold slashes and read user names.

import { domainToASCII } from 'node:url'
import { trimEnd } from './clean-text.ts'
import { parseIpAddress } from './parse-ip.ts'
import { percentDecode } from './text.ts'

export const URL_MAX = 8192

/** DNS has room for 253 characters (RFC 1035 §2.3.4), and a dot may follow. */
export const HOST_MAX = 254

/** Parsers drop tabs and line ends wherever they stand, and blanks before the scheme (https://url.spec.whatwg.org/#url-parsing). */
const DROPPED = /[\t\n\r]/g
const AUTHORITY = /^[\0-\x20]*(?:[a-z][a-z\d+.-]*:[/\\]*|[/\\]{2,})([^/\\?#]*)/i

/**
 * The only place that may call `URL.parse`, which takes quadratic time for a host (IDNA): 40,000 combining marks
 * block the thread for half a second. So a host that is too long for DNS is not parsed.
 * @param base as that of `URL.parse` @returns null where the text is no URL
 */
export function parseUrl(text: string, base?: string): URL | null {
  if (text.length > HOST_MAX) {
    const authority = AUTHORITY.exec(text.replace(DROPPED, ''))?.[1] ?? ''
    const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '')
    if (host.length > HOST_MAX && percentDecode(host).length > HOST_MAX) return null
  }
  return URL.parse(text, base)
}

/** The ASCII form of a host (IDNA). @returns '' for text that is not a host */
export const toAsciiHost = (host: string) => (host.length > HOST_MAX ? '' : domainToASCII(host))

export interface UrlRule {
  /** Schemes besides http and https, with their colon. */
  schemes: string[]
  /** True for the host (with port) of a short domain: a link to a short link could make a loop. */
  isShortHost?: (host: string) => boolean
  /** True if the operator blocks the URL's host. */
  isBlocked?: (url: URL) => boolean
}

export const BLOCKED_URL = 'must not point to a host that the operator of this server blocks'

/** @returns the URL as it is stored, or what is wrong with it */
export function checkUrl(text: string, rule: UrlRule): { href: string } | { wrong: string } {
  if (text.length > URL_MAX) return { wrong: `must be at most ${URL_MAX} characters` }
  const url = parseUrl(text)
  const web = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !(web || rule.schemes.includes(url.protocol))) {
    const others = rule.schemes.length > 0 ? ` (or ${rule.schemes.join(', ')})` : ''
    return { wrong: `must be an http or https URL${others}` }
  }
  if (web && !isPossibleHost(url)) return { wrong: 'must have a host name that can exist' }
  if (url.username !== '' || url.password !== '') return { wrong: 'must not contain a user name or password' }
  if (web && rule.isShortHost?.(url.host)) return { wrong: 'must not point to a short domain of this server' }
  if (rule.isBlocked?.(url)) return { wrong: BLOCKED_URL }
  if (url.href.length > URL_MAX) return { wrong: `must be at most ${URL_MAX} characters` }
  return { href: url.href }
}

/** What DNS can hold (RFC 1035 §2.3.4), with the underscores that some hosts have. Parsers of URLs take much more. */
const LABEL = /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?$/

function isPossibleHost({ hostname, port, pathname }: URL): boolean {
  if (hostname.startsWith('[')) return true
  const labels = hostname.replace(/\.$/, '').split('.')
  if (!labels.every((label) => LABEL.test(label))) return false
  // A URL was pasted after a scheme: https://https://example.com.
  const isScheme = labels.at(-1) === 'http' || labels.at(-1) === 'https'
  return !(isScheme && port === '' && pathname.startsWith('//'))
}

/** "go.example." and "go.example:443" under http reach the same server as "go.example", and "[::ffff:7f00:1]" as "127.0.0.1". */
export function toServerName(host: string): string {
  const port = /:\d+$/.exec(host)?.[0] ?? ''
  const written = trimEnd(host.slice(0, host.length - port.length), '.').toLowerCase()
  const name = written.startsWith('[::ffff:')
    ? String(parseIpAddress(written.slice(1, -1)) ?? written)
    : written
  return port === ':80' || port === ':443' ? name : name + port
}

/**
 * The URL that visitors call for a link. A workspace's domain has https, or the scheme and port of an origin without https.
 * @param origin the public origin of this server
 */
export function toShortUrl(
  { origin }: { origin: string },
  { domain, slug }: { domain: string; slug: string },
): string {
  return `${toDomainOrigin(origin, domain)}/${encodePath(slug)}`
}

/** @param domain '' is the default domain, whose origin is `origin` */
export function toDomainOrigin(origin: string, domain: string): string {
  if (domain === '') return origin
  return origin.startsWith('http:')
    ? `http://${domain}${/:\d+$/.exec(origin)?.[0] ?? ''}`
    : `https://${domain}`
}

/** Encodes each segment; the slashes between them stay. */
const encodePath = (path: string) => encodeURIComponent(path).replaceAll('%2F', '/')
