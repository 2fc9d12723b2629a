// Decides which addresses the server may contact for a user: public ones, and networks that the operator allows.

import { isInNetworks, type Network, parseNetwork } from '../lib/ip-network.ts'
import { type IpAddress, parseIpAddress } from '../lib/parse-ip.ts'

// The library treats this address as public, but on Azure it is private: it serves each machine its own credentials
// (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16).
const AZURE_METADATA = [parseNetwork('168.63.129.16') as Network]

// All of IPv6 that is routed today (https://www.iana.org/assignments/ipv6-unicast-address-assignments).
const GLOBAL_IPV6 = [parseNetwork('2000::/3') as Network]

const NAT64 = [parseNetwork('64:ff9b::/96') as Network]

/**
 * Refuses loopback, private, link-local (with the metadata of every cloud), carrier-grade NAT, multicast and reserved
 * addresses, the IPv6 forms that contain an IPv4 address (NAT64, 6to4, Teredo), and every text that is no address. Judges
 * a mapped address (`::ffff:10.0.0.1`) as the IPv4 address that it is.
 */
export function isAllowedAddress(address: string, allow: Network[]): boolean {
  const parsed = parseIpAddress(address)
  if (!parsed) return false
  // When the operator allows NAT64, that allows the way to IPv4 addresses, and not every IPv4 address.
  if (isInNetworks(address, NAT64))
    return isInNetworks(address, allow) && isAllowedAddress(readEmbeddedIpv4(parsed), allow)
  if (isInNetworks(address, allow)) return true
  if (parsed.range() !== 'unicast' || isInNetworks(address, AZURE_METADATA)) return false
  return parsed.kind() === 'ipv4' || isInNetworks(address, GLOBAL_IPV6)
}

/** The message for the person who chose the address. It reveals nothing about a network. */
export const PRIVATE_ADDRESS =
  'The address is in a private network. The operator of this server can allow it with WEBHOOK_ALLOW_CIDRS'

/**
 * Whether the URL is refused without a DNS look-up, because its host is a forbidden address or a name of this
 * machine. Other names are checked when a request resolves them.
 */
export function hasRefusedHost(url: URL, allow: Network[]): boolean {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (/(^|\.)localhost\.?$/.test(host))
    return !['127.0.0.1', '::1'].some((own) => isAllowedAddress(own, allow))
  return parseIpAddress(host) !== undefined && !isAllowedAddress(host, allow)
}

/** The IPv4 address in the last 32 bits. */
const readEmbeddedIpv4 = (address: IpAddress) => address.toByteArray().slice(-4).join('.')
