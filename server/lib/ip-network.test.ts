import { describe, expect, test } from 'bun:test'
import { isInNetworks, parseNetwork } from './ip-network.ts'
import { parseIpAddress } from './parse-ip.ts'

const network = (text: string) => {
  const parsed = parseNetwork(text)
  if (!parsed) throw new Error(`${text} is no network`)
  return parsed
}

describe('a network is an address or a CIDR range, and nothing that only looks like one', () => {
  test.each(['10.0.0.0/8', '127.0.0.1', '0.0.0.0/0', '::1', 'fd00::/8', '::ffff:10.0.0.0/104', '1.2.3.4/32'])(
    'taken: %s',
    (text) => {
      expect(parseNetwork(text)).toBeDefined()
    },
  )

  // `1` and `true` are what other products write for "trust whoever is in front".
  test.each([
    ['1'],
    ['true'],
    [''],
    ['/8'],
    ['10.0.0.0/'],
    ['10.0.0.0/33'],
    ['10.0.0.0/-1'],
    ['10.0.0.0/8/8'],
    ['10.0.0.0/8x'],
    ['10.1/8'],
    ['0x0a.0.0.1'],
    ['010.0.0.1'],
    ['256.0.0.1'],
    ['::/129'],
    ['::ffff:10.0.0.0/8'],
    ['loopback'],
  ])('refused: "%s"', (text) => {
    expect(parseNetwork(text)).toBeUndefined()
  })
})

test.each([
  ['10.1.2.3', '10.0.0.0/8', true],
  ['11.0.0.0', '10.0.0.0/8', false],
  ['::ffff:10.1.2.3', '10.0.0.0/8', true],
  ['10.1.2.3', '::ffff:10.0.0.0/104', true],
  ['11.1.2.3', '::ffff:10.0.0.0/104', false],
  ['127.0.0.1', '127.0.0.1', true],
  ['127.0.0.2', '127.0.0.1', false],
  ['fd12::1', 'fd00::/8', true],
  ['fe80::1', 'fd00::/8', false],
  ['::1', '0.0.0.0/0', false],
  ['10.0.0.1', '::/0', false],
  ['1', '0.0.0.0/0', false],
  ['', '0.0.0.0/0', false],
])('%s in %s: %p', (address, range, inside) => {
  expect(isInNetworks(address, [network(range)])).toBe(inside)
})

test('an empty list contains no address', () => {
  expect(isInNetworks('127.0.0.1', [])).toBe(false)
  expect(parseIpAddress('nobody')).toBeUndefined()
})
