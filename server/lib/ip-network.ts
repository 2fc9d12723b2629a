// Networks as the configuration names them (`10.0.0.0/8`, `::1`), and whether an address is in one of them.

import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
export type Network = [Address, number]

/**
 * IPv4 as four decimal numbers only: the library also takes `1`, `0x7f.1` and octal for addresses, so that the
 * `TRUST_PROXY=1` of other products would be a network. Mapped IPv4 (`::ffff:1.2.3.4`) becomes the IPv4 that it is.
 */
export function parseIpAddress(text: string): Address | undefined {
  if (!text.includes(':')) return parseIpv4(text)
  return ipaddr.IPv6.isValid(text) ? ipaddr.process(text) : undefined
}

const IPV4 = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/

/** By hand, in a third of the library's time: each submission comes here six times. */
function parseIpv4(text: string): ipaddr.IPv4 | undefined {
  const parts = IPV4.exec(text)?.slice(1).map(Number)
  return parts?.every((part) => part <= 255) ? new ipaddr.IPv4(parts) : undefined
}

/** @returns undefined when the text is neither an address nor a CIDR range. */
export function parseNetwork(text: string): Network | undefined {
  const [base = '', prefix, ...more] = text.split('/')
  const address = parseIpAddress(base)
  if (!address || more.length > 0) return undefined
  const bitsMax = address.kind() === 'ipv4' ? 32 : 128
  if (prefix === undefined) return [address, bitsMax]
  // A range written in mapped form counts the 96 bits in front of the IPv4 address too.
  const bits = Number(prefix) - (base.includes(':') && bitsMax === 32 ? 96 : 0)
  return /^\d{1,3}$/.test(prefix) && bits >= 0 && bits <= bitsMax ? [address, bits] : undefined
}

export function isInNetworks(address: string, networks: Network[]): boolean {
  const parsed = parseIpAddress(address)
  if (!parsed) return false
  return networks.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base as never, bits))
}
