import { expect, test } from 'bun:test'
import { parseNetwork } from '../../lib/ip-network.ts'
import { createConnections } from './connections.ts'

const LIMITS = { total: 10, perAddress: 2, relayed: 4, relayedPerAddress: 2 }

/** How many connections of these addresses are admitted, one after the other, while none of them waits. */
function countAdmitted(addresses: string[], trusted: string[] = []): number {
  const networks = trusted.map(parseNetwork).filter((network) => network !== undefined)
  const connections = createConnections(LIMITS, networks)
  return addresses.filter((address) => connections.admit(address) !== null).length
}

test.each<[string, string[], number]>([
  ['one IPv4 address', ['192.0.2.1', '192.0.2.1', '192.0.2.1'], 2],
  ['its neighbors', ['192.0.2.1', '192.0.2.1', '192.0.2.2'], 3],
  ['one IPv4 address, as IPv6 writes it too', ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201'], 2],
  ['addresses of one /64', ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:ffff::3'], 2],
  ['addresses of two /64', ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::3'], 3],
])('%s: as many as one has', (_, addresses, admitted) => {
  expect(countAdmitted(addresses)).toBe(admitted)
})

test('a trusted proxy has as many as there are, and its neighbor in the /64 has not', () => {
  expect(countAdmitted(Array(11).fill('192.0.2.1'), ['192.0.2.0/24'])).toBe(10)
  const addresses = [...Array(5).fill('2001:db8::1'), ...Array(5).fill('2001:db8::2')]
  expect(countAdmitted(addresses, ['2001:db8::1'])).toBe(7)
})

test('when descriptors run out there is room for fewer, and for all again afterwards', () => {
  const connections = createConnections(LIMITS, [])
  for (let n = 0; n < 8; n++) connections.admit(`192.0.2.${n}`)
  connections.setExhausted(true)
  expect(connections.admit('192.0.2.100')).toBeNull()
  for (let n = 0; n < 5; n++) connections.setExhausted(false)
  expect(connections.admit('192.0.2.100')).not.toBeNull()
  expect(connections.admit('192.0.2.101')).not.toBeNull()
  expect(connections.admit('192.0.2.102')).toBeNull()
})
