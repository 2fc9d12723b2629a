// Networks as the configuration writes them (`10.0.0.0/8`, `::1`), and whether an address is in one of them.

import { type IpAddress, parseIpAddress } from './parse-ip.ts'

export type Network = [base: IpAddress, bits: number]

/** @returns undefined for a text that is neither an address nor a CIDR range */
export function parseNetwork(text: string): Network | undefined {
  const [base = '', prefix, ...more] = text.split('/')
  const address = parseIpAddress(base)
  if (!address || more.length > 0) return undefined
  const bitsMax = address.kind() === 'ipv4' ? 32 : 128
  if (prefix === undefined) return [address, bitsMax]
  // The length of a mapped range (`::ffff:10.0.0.0/104`) includes the 96 bits before the IPv4 address.
  const bits = Number(prefix) - (base.includes(':') && bitsMax === 32 ? 96 : 0)
  return /^\d{1,3}$/.test(prefix) && bits >= 0 && bits <= bitsMax ? [address, bits] : undefined
}

export function isInNetworks(address: string, networks: Network[]): boolean {
  const parsed = parseIpAddress(address)
  if (!parsed) return false
  return networks.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base as never, bits))
}
