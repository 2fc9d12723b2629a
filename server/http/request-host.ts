// Reads the host of a request, which selects the domain (docs/adr/0042-hosts.md).

import { isInNetworks, type Network } from '../lib/ip-network.ts'

/** A name, an IPv4 address or an IPv6 address in brackets, with or without a port (RFC 9110 §7.2). */
const HOST = /^(?=.{1,261}$)(?:\w[\w.-]*|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i

/** Whether a text can be a host. Names are ASCII: browsers encode others (IDNA). */
export const isHost = (text: string) => HOST.test(text)

/**
 * The host as it was sent: not checked yet, and '' without one (HTTP/1.0). `X-Forwarded-Host` counts only from
 * proxies that the operator trusts. Each proxy appends the requested host, so the first value is the visitor's.
 * @param getPeer the address of the other end of the connection
 */
export function readRequestHost(
  headers: { get(name: string): string | null },
  getPeer: () => string,
  trusted: Network[],
): string {
  const host = headers.get('host') ?? ''
  const forwarded = trusted.length === 0 ? null : headers.get('x-forwarded-host')
  if (!forwarded || !isInNetworks(getPeer(), trusted)) return host
  const comma = forwarded.indexOf(',')
  return (comma < 0 ? forwarded : forwarded.slice(0, comma)).trim()
}

type Handler<Args extends unknown[]> = (
  request: Bun.BunRequest,
  ...args: Args
) => Response | Promise<Response>

/** Refuses a request with more than one Host field (RFC 9112 §3.2): two readers could choose differently. */
export function requireOneHost<Args extends unknown[]>(answer: Handler<Args>): Handler<Args> {
  return (request, ...args) => {
    // Without a Host (HTTP/1.0), Bun's URL is only the path, which neither Hono nor `new URL` can read.
    if (request.url.startsWith('/'))
      Object.defineProperty(request, 'url', { value: `http://localhost${request.url}` })
    // `Headers` joins them with a comma, which no host has.
    if (!request.headers.get('host')?.includes(',')) return answer(request, ...args)
    return Response.json(
      { error: 'The request has more than one Host header. Send one.' },
      { status: 400, headers: { Connection: 'close', 'Cache-Control': 'no-store' } },
    )
  }
}
