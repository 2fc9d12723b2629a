// Chooses where a browser goes after a native submission. It checks parsed URLs and sends their `href`, so that no text
// of a sender gets into a header unparsed.

import { parseUrl, URL_MAX } from '../../../lib/web-url.ts'
import type { FormSettings } from '../settings/form-settings.ts'
import { isNextAllowed } from '../settings/next-hosts.ts'

export interface TargetContext {
  /** The Referer header, or ''. */
  referer: string
  /** The origin of the domain that the form was sent to. */
  origin: string
  /** The form's page. Replaces a Referer that is only the origin of the same site. */
  pageUrl: string | null
}

type SuccessSettings = Pick<FormSettings, 'formKey' | 'redirectUrl' | 'nextHosts' | 'afterSubmit'>

const ERRORS = '_errors'
// Far below the length of a URL that browsers, proxies and logs accept.
const ERRORS_MAX = 2_000

/**
 * @returns the first usable one of `_next`, the form's `redirectUrl`, its thanks page (with `afterSubmit: hosted`), the
 *   Referer, and the thanks page of no form. A page of ours gets the language that the form itself named.
 */
export function successTarget(
  context: TargetContext & SuccessSettings & { next: string | undefined; language?: string | undefined },
): string {
  const back = parseReferer(context)
  const next = parseWebUrl(context.next, back?.href)
  const usable = next && isNextAllowed(context.nextHosts, next) ? next : undefined
  const chosen = usable ?? parseWebUrl(context.redirectUrl)
  if (chosen) return chosen.href
  const query = context.language === undefined ? '' : `?lang=${context.language}`
  if (context.afterSubmit === 'hosted') return `${toThanksUrl(context.origin, context.formKey)}${query}`
  return back?.href ?? `${context.origin}/thanks${query}`
}

/** The form's own thanks page. */
export const toThanksUrl = (origin: string, formKey: string) => `${origin}/f/${formKey}/thanks`

/** @param path the path after `/f`. @returns the form key of a thanks page; undefined for other paths */
export const parseThanksPath = (path: string): string | undefined =>
  /^\/+([\w-]{1,64})\/+thanks\/*$/.exec(path)?.[1]

/** @returns the page that a page of ours links back to: the form's own page, else where the browser came from */
export const findWayBack = (context: TargetContext): URL | undefined =>
  parseWebUrl(context.pageUrl) ?? parseReferer(context)

/** @returns the form's page with the errors in its query; undefined where the request does not name the page */
export function errorTarget(context: TargetContext, errors: Map<string, string>): string | undefined {
  const back = parseReferer(context)
  if (!back) return undefined
  const query = back.search.slice(1)
  back.search = `${query}${query === '' ? '' : '&'}${ERRORS}=${encodeErrors(errors)}`
  return back.href
}

/** Removes the errors of an earlier try from the query, and leaves the rest of the query unchanged. */
function parseReferer({ referer, origin, pageUrl }: TargetContext): URL | undefined {
  const sent = parseWebUrl(referer)
  if (!sent) return undefined
  const url = replaceBareOrigin(sent, pageUrl)
  // The endpoint itself answers only POST. Other pages of this origin may belong to the site, behind one proxy with us.
  if (url.origin === origin && /^\/f(?:\/|$)/.test(url.pathname)) return undefined
  const parts = url.search.slice(1).split('&')
  const kept = parts.filter((part) => !new URLSearchParams(`?${part}`).has(ERRORS))
  if (kept.length < parts.length) url.search = kept.join('&')
  return url
}

/**
 * Browsers tell another site only the origin of a page (https://www.w3.org/TR/referrer-policy/#default-referrer-policy),
 * which leads to the start page of the site. The form's own page is the better answer, on the same site only: a Referer
 * of another site says that the form is there too.
 */
function replaceBareOrigin(referer: URL, pageUrl: string | null): URL {
  if (referer.pathname !== '/' || referer.search !== '') return referer
  const page = parseWebUrl(pageUrl)
  return page?.origin === referer.origin ? page : referer
}

/** @param base for a relative URL. @returns undefined unless it is an http or https URL without a user name */
function parseWebUrl(text: string | null | undefined, base?: string): URL | undefined {
  if (!text || text.trim() === '' || text.length > URL_MAX) return undefined
  const url = parseUrl(text, base)
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
