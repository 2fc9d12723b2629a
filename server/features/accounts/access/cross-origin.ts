// Protects cookie requests against cross-site request forgery: a request that changes something must come from our own
// pages. The rule is that of Go 1.25 (https://pkg.go.dev/net/http#CrossOriginProtection): request headers, no tokens.

import { Failure } from '../../../lib/failure.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])
const OWN_SITE = new Set(['same-origin', 'none'])

/** @param origin the server's public origin; behind a proxy the request has another one @throws Failure `forbidden` */
export function refuseCrossOrigin(request: { method: string; headers: Headers }, origin: string): void {
  const { method, headers } = request
  if (SAFE_METHODS.has(method)) return
  // Pages cannot set this header. Browsers leave it out over plain http.
  const site = headers.get('sec-fetch-site')
  if (site !== null ? OWN_SITE.has(site) : isSameHost(headers, origin)) return
  throw new Failure('forbidden', 'Cross-origin request refused')
}

function isSameHost(headers: Headers, publicOrigin: string): boolean {
  const origin = headers.get('origin')
  // Not a browser: a browser sends at least one of the two headers with every request that is not a GET.
  if (origin === null) return true
  // Compare hosts, not origins: a proxy that ends TLS passes on the host name but not the scheme.
  const host = URL.parse(origin)?.host
  return (
    host !== undefined && host !== '' && (host === headers.get('host') || host === new URL(publicOrigin).host)
  )
}
