// Which addresses a request on behalf of a stranger may go to: public ones, and what the operator allowed by name.

import type ipaddr from 'ipaddr.js'
import { isInNetworks, type Network, parseIpAddress, parseNetwork } from '../lib/ip-network.ts'

// Public to the library and private in truth: Azure answers every machine there with that machine's own keys.
const AZURE_METADATA = [parseNetwork('168.63.129.16') as Network]

// All of IPv6 that is routed today. What lies outside of it and is not yet known to the library is no use to anyone.
const GLOBAL_IPV6 = [parseNetwork('2000::/3') as Network]

const NAT64 = [parseNetwork('64:ff9b::/96') as Network]

/**
 * Loopback, private, link-local (with the metadata of every cloud), carrier-grade NAT, multicast and reserved
 * addresses are refused, and so are the IPv6 forms that carry an IPv4 address inside (NAT64, 6to4, Teredo). A mapped
 * one (`::ffff:10.0.0.1`) is judged as the IPv4 that it is. What is no address is refused.
 */
export function isAllowedAddress(address: string, allow: Network[]): boolean {
  const parsed = parseIpAddress(address)
  if (!parsed) return false
  // To allow NAT64 is to say how IPv4 is reached on this network, not that all of IPv4 may be.
  if (isInNetworks(address, NAT64))
    return isInNetworks(address, allow) && isAllowedAddress(readEmbeddedIpv4(parsed), allow)
  if (isInNetworks(address, allow)) return true
  if (parsed.range() !== 'unicast' || isInNetworks(address, AZURE_METADATA)) return false
  return parsed.kind() === 'ipv4' || isInNetworks(address, GLOBAL_IPV6)
}

/** The IPv4 address in the last 32 bits. */
const readEmbeddedIpv4 = (address: ReturnType<typeof ipaddr.process>) =>
  address.toByteArray().slice(-4).join('.')
