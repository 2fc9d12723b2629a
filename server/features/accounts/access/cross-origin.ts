// Cookies come with requests that other sites make, so a request that changes something must come from our own pages.
// The rule is that of Go 1.25's CrossOriginProtection: what browsers say of themselves, and no tokens.

import { Failure } from '../../../lib/failure.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])
const OURS = new Set(['same-origin', 'none'])

/** @param origin the server's public one, which is not what it is asked by behind a proxy @throws Failure `forbidden` */
export function refuseCrossOrigin(request: { method: string; headers: Headers }, origin: string): void {
  const { method, headers } = request
  if (SAFE.has(method)) return
  // Browsers do not let pages set it. Over plain http they leave it out.
  const site = headers.get('sec-fetch-site')
  if (site !== null ? OURS.has(site) : isFromHere(headers, origin)) return
  throw new Failure('forbidden', 'Cross-origin request refused')
}

function isFromHere(headers: Headers, origin: string): boolean {
  const from = headers.get('origin')
  // No browser: those send one or the other with everything that is not a GET.
  if (from === null) return true
  // Hosts, not origins: a proxy that ends TLS passes the name on and not the scheme.
  const host = URL.parse(from)?.host
  return host !== undefined && host !== '' && (host === headers.get('host') || host === new URL(origin).host)
}
