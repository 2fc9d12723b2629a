// Finds the address of the visitor. Forwarding headers count only from proxies that the operator trusts (`TRUST_PROXY`).

import type ipaddr from 'ipaddr.js'
import { isInNetworks, type Network } from '../lib/ip-network.ts'
import { parseIpAddress } from '../lib/parse-ip.ts'

/**
 * The address of the peer; behind trusted proxies, the last hop of X-Forwarded-For that is not a trusted proxy.
 * Clients can forge the hops before it.
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

/** Some proxies write `[::1]:80` and `1.2.3.4:80`. */
function withoutPort(hop: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1]
  return bracketed ?? (/^\d+\.\d+\.\d+\.\d+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop)
}

/** @returns the same text for every spelling of an address. IPv4 has one spelling only. */
function toCanonical(address: string): string {
  if (!address.includes(':')) return address
  return parseIpAddress(address)?.toString() ?? address
}

/** The key of rate limits: an IPv4 address, or the /64 of an IPv6 address, because one customer has all of a /64. */
export function toRateLimitKey(address: string): string {
  if (!address.includes(':')) return address
  const parsed = parseIpAddress(address)
  if (!parsed) return address
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const network = (parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}
