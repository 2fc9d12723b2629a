// Where a browser is sent after a native submission. Judged on parsed URLs only, and sent as their `href`: no text of
// a stranger becomes a header.

import { URL_MAX } from '../../../lib/web-url.ts'

export interface TargetContext {
  /** The Referer header, or ''. */
  referer: string
  /** Our own origin. */
  origin: string
}

const ERRORS = '_errors'
// Far below what browsers, proxies and logs take as one URL.
const ERRORS_MAX = 2_000

/** `_next`, the form's own page, back where the visitor was, our thanks: the first that can be gone to. */
export function successTarget(
  asked: TargetContext & { next: string | undefined; redirectUrl: string | null },
): string {
  const back = parseReferer(asked)
  const target = parseWebUrl(asked.next, back?.href) ?? parseWebUrl(asked.redirectUrl) ?? back
  return target?.href ?? `${asked.origin}/thanks`
}

/** Back to the form with what is wrong, by field. @returns undefined where nobody says which page that is */
export function errorTarget(asked: TargetContext, errors: Map<string, string>): string | undefined {
  const back = parseReferer(asked)
  if (!back) return undefined
  const query = back.search.slice(1)
  back.search = `${query}${query === '' ? '' : '&'}${ERRORS}=${encodeErrors(errors)}`
  return back.href
}

/** Without the errors of an earlier try; whatever else its query says stays as it is. */
function parseReferer({ referer, origin }: TargetContext): URL | undefined {
  const url = parseWebUrl(referer)
  if (!url) return undefined
  // Only a POST is answered there. Other pages of our origin can be the site's, behind a proxy that adds us to it.
  if (url.origin === origin && /^\/f(?:\/|$)/.test(url.pathname)) return undefined
  const parts = url.search.slice(1).split('&')
  const kept = parts.filter((part) => !new URLSearchParams(`?${part}`).has(ERRORS))
  if (kept.length < parts.length) url.search = kept.join('&')
  return url
}

/** @param base for a relative one */
function parseWebUrl(text: string | null | undefined, base?: string): URL | undefined {
  if (!text || text.trim() === '' || text.length > URL_MAX) return undefined
  const url = URL.parse(text, base)
  const web = url && (url.protocol === 'http:' || url.protocol === 'https:')
  return web && url.username === '' && url.password === '' ? url : undefined
}

/** As many of the messages as fit. */
function encodeErrors(errors: Map<string, string>): string {
  const members: string[] = []
  let length = '%7B%7D'.length
  for (const [name, message] of errors) {
    const member = encodeURIComponent(`${JSON.stringify(name)}:${JSON.stringify(message)}`)
    const longer = length + member.length + '%2C'.length
    if (longer > ERRORS_MAX) continue
    length = longer
    members.push(member)
  }
  return `%7B${members.join('%2C')}%7D`
}
