// A form's list of hosts that `_next` may lead to: the syntax of an entry, its stored form, and the URLs that it
// allows. Without a list, a stranger could write a form that posts to this server and leads on to any page.

import { trimEnd } from '../../../lib/clean-text.ts'
import { parseUrl } from '../../../lib/web-url.ts'

/** A host name of at most 253 characters, and a port. */
export const NEXT_HOST_MAX = 260

/**
 * Reads `example.com`, `example.com:8443`, `192.0.2.1` or `[2001:db8::1]`. @returns it as URLs write it: in lower case, IDNA
 * ASCII (`xn--…`), without a dot at the end; undefined for anything else
 */
export function normalizeNextHost(text: string): string | undefined {
  // The URL parser ignores tabs and backslashes, and reads the part before an "@" as a user. A "*" is not a wildcard
  // here.
  if (!/^[^\s/\\?#@*%]+$/.test(text)) return undefined
  // A scheme without a default port: the parser would drop ":80" of http and ":443" of https.
  const port = /:(\d{1,5})$/.exec(text.replace(/^\[[^\]]*\]/, ''))?.[1]
  const url = parseUrl(`http://${port === undefined ? text : text.slice(0, -port.length - 1)}`)
  if (url?.port !== '' || url.hostname === '') return undefined
  const host = withoutDot(url.hostname)
  if (host === '' || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) return undefined
  return port === undefined ? host : `${host}:${Number(port)}`
}

/**
 * @param allowed the form's list; an empty list allows any host. An entry with a port allows this port only, and one
 *   without a port the default port of http and https.
 */
export function isNextAllowed(allowed: string[], url: URL): boolean {
  if (allowed.length === 0) return true
  const host = withoutDot(url.hostname)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return (url.port === '' && allowed.includes(host)) || allowed.includes(`${host}:${port}`)
}

const withoutDot = (hostname: string) => trimEnd(hostname, '.')
