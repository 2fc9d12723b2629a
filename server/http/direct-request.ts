// Detects requests from this machine that came through no proxy.

import { isLoopback } from '../lib/parse-ip.ts'

/** A request with one of these comes through a proxy. */
const FORWARDING =
  /^(?:x-forwarded(?:-.+)?|forwarded|via|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-connecting-ip)$/

/** Whether a header shows that a proxy has forwarded the request. */
export const hasForwardingHeader = (headers: Headers) =>
  [...headers.keys()].some((name) => FORWARDING.test(name.toLowerCase()))

const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/**
 * Whether the request comes from this machine without a proxy. The Host header must name this machine or the server:
 * a stranger's page can point its own name to 127.0.0.1 (DNS rebinding).
 */
export function isDirectRequest(peer: string, headers: Headers, origin: string): boolean {
  if (!isLoopback(peer)) return false
  if (hasForwardingHeader(headers)) return false
  const host = headers.get('host') ?? ''
  return LOCAL_HOST.test(host) || host === new URL(origin).host
}
