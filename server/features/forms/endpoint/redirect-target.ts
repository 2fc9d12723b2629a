// Chooses where a browser goes after a native submission. It checks parsed URLs and sends their `href`, so that no text
// of a sender gets into a header unparsed.

import { URL_MAX } from '../../../lib/web-url.ts'
import { isNextAllowed } from '../settings/next-hosts.ts'

export interface TargetContext {
  /** The Referer header, or ''. */
  referer: string
  /** The server's own origin. */
  origin: string
}

const ERRORS = '_errors'
// Far below the length of a URL that browsers, proxies and logs accept.
const ERRORS_MAX = 2_000

/** @returns the first usable one of `_next`, the form's `redirectUrl`, the Referer, and our thank-you page */
export function successTarget(
  context: TargetContext & { next: string | undefined; redirectUrl: string | null; nextHosts: string[] },
): string {
  const back = parseReferer(context)
  const next = parseWebUrl(context.next, back?.href)
  const usable = next && isNextAllowed(context.nextHosts, next) ? next : undefined
  const target = usable ?? parseWebUrl(context.redirectUrl) ?? back
  return target?.href ?? `${context.origin}/thanks`
}

/** @returns the form's page with the errors in its query; undefined where the request does not name the page */
export function errorTarget(context: TargetContext, errors: Map<string, string>): string | undefined {
  const back = parseReferer(context)
  if (!back) return undefined
  const query = back.search.slice(1)
  back.search = `${query}${query === '' ? '' : '&'}${ERRORS}=${encodeErrors(errors)}`
  return back.href
}

/** Removes the errors of an earlier try from the query, and leaves the rest of the query unchanged. */
function parseReferer({ referer, origin }: TargetContext): URL | undefined {
  const url = parseWebUrl(referer)
  if (!url) return undefined
  // The endpoint itself answers only POST. Other pages of this origin may belong to the site, behind one proxy with us.
  if (url.origin === origin && /^\/f(?:\/|$)/.test(url.pathname)) return undefined
  const parts = url.search.slice(1).split('&')
  const kept = parts.filter((part) => !new URLSearchParams(`?${part}`).has(ERRORS))
  if (kept.length < parts.length) url.search = kept.join('&')
  return url
}

/** @param base for a relative URL. @returns undefined unless it is an http or https URL without a user name */
function parseWebUrl(text: string | null | undefined, base?: string): URL | undefined {
  if (!text || text.trim() === '' || text.length > URL_MAX) return undefined
  const url = URL.parse(text, base)
  const isWeb = url && (url.protocol === 'http:' || url.protocol === 'https:')
  return isWeb && url.username === '' && url.password === '' ? url : undefined
}

/** Encodes as many messages as fit into ERRORS_MAX, as a JSON object. */
function encodeErrors(errors: Map<string, string>): string {
  const members: string[] = []
  let length = '%7B%7D'.length
  for (const [name, message] of errors) {
    const member = encodeURIComponent(`${JSON.stringify(name)}:${JSON.stringify(message)}`)
    const newLength = length + member.length + '%2C'.length
    if (newLength > ERRORS_MAX) continue
    length = newLength
    members.push(member)
  }
  return `%7B${members.join('%2C')}%7D`
}
