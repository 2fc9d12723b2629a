// A form's list of allowed origins: which pages and hosts it allows. The check finds copied forms; it proves nothing,
// because a program can send any Origin header that it likes.

import { parseUrl } from '../../../lib/web-url.ts'

/** @param allowed the form's list; an empty list allows any page */
export function isOriginAllowed(allowed: string[], headers: Pick<Headers, 'get'>): boolean {
  if (allowed.length === 0) return true
  const origin = readSenderOrigin(headers)
  return origin !== null && allowed.some((entry) => allowsOrigin(entry, origin))
}

/** Compares the host alone. @param allowed the form's list; an empty list allows any host */
export function isHostAllowed(allowed: string[], hostname: string): boolean {
  if (allowed.length === 0) return true
  return allowed.some((entry) => {
    const pattern = parseEntry(entry, 'https:')
    return pattern !== undefined && allowsHost(pattern, hostname)
  })
}

/** `Origin: null` counts as absent: sandboxed frames and pages with the policy `no-referrer` send it. */
export function readSenderOrigin(headers: Pick<Headers, 'get'>): URL | null {
  const origin = headers.get('origin')?.trim() ?? ''
  const source = origin === '' || origin === 'null' ? (headers.get('referer') ?? '') : origin
  const url = parseUrl(source)
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : null
}

interface OriginPattern {
  /** `https://example.com` of the entry `https://*.example.com`. */
  url: URL
  wildcard: boolean
}

/**
 * Reads an entry of the list. The URL parser gives it the spelling of the sender's origin: lower case, Punycode, no
 * default port. @param scheme for an entry without one
 */
function parseEntry(entry: string, scheme: string): OriginPattern | undefined {
  const [, ownScheme, wildcard, rest = ''] = /^(?:(https?:)\/\/)?(\*\.)?(.*)$/i.exec(entry.trim()) ?? []
  const url = parseUrl(`${ownScheme ?? scheme}//${rest}`)
  return url ? { url, wildcard: wildcard !== undefined } : undefined
}

function allowsOrigin(entry: string, origin: URL): boolean {
  const pattern = parseEntry(entry, origin.protocol)
  if (!pattern || pattern.url.protocol !== origin.protocol || pattern.url.port !== origin.port) return false
  return allowsHost(pattern, origin.hostname)
}

const allowsHost = ({ url, wildcard }: OriginPattern, hostname: string) =>
  wildcard ? hostname.endsWith(`.${url.hostname}`) : hostname === url.hostname
