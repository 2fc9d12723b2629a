// Protects cookie requests against pages of other sites: a request with a cookie must come from our own pages. The rule is
// that of Go 1.25 (https://pkg.go.dev/net/http#CrossOriginProtection), request headers and no tokens, for reads too.
// Also tells requests of the dashboard from those of programs that use a cookie.

import { Failure } from '../../../lib/failure.ts'
import { parseUrl } from '../../../lib/web-url.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD'])
const OWN_SITE = new Set(['same-origin', 'none'])

/** @param origin the server's public origin; behind a proxy the request has another one @throws Failure `forbidden` */
export function refuseCrossOrigin(request: { method: string; headers: Headers }, origin: string): void {
  const { method, headers } = request
  // A person follows a link, such as one in a mail. The page with the link cannot read the answer.
  if (SAFE_METHODS.has(method) && headers.get('sec-fetch-mode') === 'navigate') return
  // Pages cannot set this header. Browsers leave it out over plain http.
  const site = headers.get('sec-fetch-site')
  if (site !== null ? OWN_SITE.has(site) : hasNoForeignOrigin(headers, origin)) return
  throw new Failure('forbidden', 'Cross-origin request refused')
}

/**
 * Does a page of our own make this request? Browsers say so in `Sec-Fetch-Site`, and over plain http in `Referer`. A
 * program can write both headers, so this is the rule of the plans and no protection (docs/adr/0022-keys-roles-audit.md).
 */
export function isFromOwnPage({ headers }: { headers: Headers }, publicOrigin: string): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const referer = headers.get('referer')
  return referer !== null && isOwnHost(referer, headers, publicOrigin)
}

function hasNoForeignOrigin(headers: Headers, publicOrigin: string): boolean {
  const origin = headers.get('origin')
  // Not a browser, or an old one that follows a link: a browser sends at least one of the two headers with all others.
  return origin === null || isOwnHost(origin, headers, publicOrigin)
}

/**
 * Compares hosts, not origins: a proxy that ends TLS passes on the host name but not the scheme. The gate has let the
 * request through because its host is the default domain's. Behind a proxy, that may have been `X-Forwarded-Host`: then
 * `Host` may name anything, a workspace's domain too.
 */
function isOwnHost(url: string, headers: Headers, publicOrigin: string): boolean {
  const host = parseUrl(url)?.host
  const requested = headers.has('x-forwarded-host') ? null : headers.get('host')
  return host !== undefined && host !== '' && (host === requested || host === new URL(publicOrigin).host)
}
