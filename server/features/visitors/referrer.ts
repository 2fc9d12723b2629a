// Reads where a visitor came from, from the Referer header.

import { cleanText, cutText } from '../../lib/clean-text.ts'
import { parseUrl } from '../../lib/web-url.ts'
import { isReferrerSpam } from './referrer-spam.ts'

const HOST_MAX = 253
/** Characters of a referring URL (docs/contract.md §16). */
const URL_MAX = 512
const DIRECT = { referrer: null, referrerUrl: null }

/**
 * Hosts of this instance in lower case: those of its default domain with their port, and the domains of all workspaces
 * without one. A short domain redirects, so it is nobody's source, whichever workspace has it (docs/adr/0047-across-domains.md).
 */
export type OwnHosts = Pick<ReadonlySet<string>, 'has'>

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
export function parseReferrer(header: string, ownHosts: OwnHosts): Referrer {
  const url = header === '' ? null : parseUrl(header)
  // Apps send `android-app://com.google.android.gm/`. A URL of any other scheme is no referrer.
  if (!url || !/^(https?|android-app|ios-app):$/.test(url.protocol) || url.hostname === '') return DIRECT
  const host = url.host.toLowerCase()
  if (isOwnHost(host, ownHosts)) return DIRECT
  return {
    referrer: cleanText(stripWww(url.hostname.toLowerCase()), HOST_MAX),
    referrerUrl: cleanText(`${url.protocol}//${host}${url.pathname}`, URL_MAX),
  }
}

const NO_HOSTS: OwnHosts = new Set()

/** The host of a Referer header as `Referrer.referrer` has it, also one of our own. */
export const readReferrerHost = (header: string): string | null =>
  parseReferrer(cutReferrer(header), NO_HOSTS).referrer

/** Whether the Referer header advertises a site: such a visitor is no person. */
export const isSpamReferrer = (header: string | null): boolean =>
  header !== null && isReferrerSpam(readReferrerHost(header))

/** `www.go.example` is another host than `go.example`: a company may have its site there. */
export function isOwnHost(host: string, ownHosts: OwnHosts): boolean {
  const name = stripRootDot(host)
  return ownHosts.has(name) || ownHosts.has(name.replace(/:\d+$/, ''))
}

const stripRootDot = (host: string) => host.replace(/\.(?=$|:)/, '')

/** Removes `www.` and the dot of the DNS root, which do not change the site. */
const stripWww = (host: string) => stripRootDot(host.replace(/^www\.(?=[^.]+\.)/, ''))

/** @returns the host of a URL as `Referrer.referrer` has it; '' where the text is no URL */
export const toSiteHost = (url: string): string => stripWww(parseUrl(url)?.hostname.toLowerCase() ?? '')
