// Who is at the other end. Forwarding headers are believed only from proxies that the operator named.

import type ipaddr from 'ipaddr.js'
import { isInNetworks, type Network, parseIpAddress } from '../lib/ip-network.ts'

/**
 * The visitor's address: the peer's own, or, behind trusted proxies, the first hop of X-Forwarded-For that is not
 * one of them, walking from right to left (what is left of it, anybody could have written).
 */
export function readClientAddress(peer: string, forwardedFor: string | null, trusted: Network[]): string {
  if (trusted.length === 0 || forwardedFor === null || !isInNetworks(peer, trusted)) return toCanonical(peer)
  const hops = forwardedFor.split(',').map((hop) => withoutPort(hop.trim()))
  let client = peer
  for (const hop of hops.reverse()) {
    if (!parseIpAddress(hop)) break
    client = hop
    if (!isInNetworks(hop, trusted)) break
  }
  return toCanonical(client)
}

/** `[::1]:80` and `1.2.3.4:80`, as some proxies write them. */
function withoutPort(hop: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1]
  return bracketed ?? (/^\d+\.\d+\.\d+\.\d+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop)
}

/** One text for one address, however it was written. IPv4, the usual case, has only one. */
function toCanonical(address: string): string {
  if (!address.includes(':')) return address
  return parseIpAddress(address)?.toString() ?? address
}

/** What limits count by: an IPv4 address, or the /64 of an IPv6 one, since one customer owns all of it. */
export function toRateLimitKey(address: string): string {
  const parsed = parseIpAddress(address)
  if (!parsed) return address
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
