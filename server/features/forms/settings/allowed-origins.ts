// Which sites may send a form. A signal against copied forms, not a proof: only browsers tell the truth here.

/** @param allowed origins of the form; none means any */
export function isOriginAllowed(allowed: string[], headers: Headers): boolean {
  if (allowed.length === 0) return true
  const origin = readSenderOrigin(headers)
  return origin !== null && allowed.some((entry) => matchesEntry(entry, origin))
}

/** `null` says no more than an absent header: sandboxed frames and pages without a referrer policy send it. */
function readSenderOrigin(headers: Headers): URL | null {
  const given = headers.get('origin')?.trim() ?? ''
  const named = given === '' || given === 'null' ? (headers.get('referer') ?? '') : given
  const url = URL.parse(named)
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : null
}

/**
 * @param entry `https://example.com`; `https://*.example.com` for everything below it, and not for itself; without a
 * scheme either one will do
 */
function matchesEntry(entry: string, origin: URL): boolean {
  const [, scheme, wildcard = '', rest = ''] = /^(?:(https?:)\/\/)?(\*\.)?(.*)$/i.exec(entry.trim()) ?? []
  // The parser gives both sides one spelling: case, international names, a port that goes without saying.
  const wanted = URL.parse(`${scheme ?? origin.protocol}//${rest}`)
  if (!wanted || wanted.protocol !== origin.protocol || wanted.port !== origin.port) return false
  if (wildcard === '') return wanted.hostname === origin.hostname
  return origin.hostname.endsWith(`.${wanted.hostname}`)
}
