// Detects requests of this machine itself, which no proxy has passed on.

import { isLoopback } from '../lib/parse-ip.ts'

/** A request with one of these comes through a proxy. */
const FORWARDING =
  /^(?:x-forwarded(?:-.+)?|forwarded|via|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-connecting-ip)$/

/** Whether a proxy has passed the request on, and says so. */
export const hasForwardingHeader = (headers: Headers) =>
  [...headers.keys()].some((name) => FORWARDING.test(name.toLowerCase()))

const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/**
 * Whether the request comes from this machine without a proxy. The Host header must name this machine or the server: a
 * page of a stranger can let its own name lead to 127.0.0.1 (DNS rebinding).
 */
export function isDirectRequest(peer: string, headers: Headers, origin: string): boolean {
  if (!isLoopback(peer)) return false
  if (hasForwardingHeader(headers)) return false
  const host = headers.get('host') ?? ''
  return LOCAL_HOST.test(host) || host === new URL(origin).host
}
