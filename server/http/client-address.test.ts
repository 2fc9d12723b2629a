import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseNetwork } from '../lib/ip-network.ts'
import { readClientAddress, toRateLimitKey } from './client-address.ts'

const trusted = (...ranges: string[]) =>
  ranges.map((range) => parseNetwork(range) ?? expect.unreachable(range))
const NOBODY = trusted()
const PROXIES = trusted('10.0.0.0/8', '127.0.0.1', 'fd00::/8')

describe('the address of a visitor', () => {
  test.each([
    // Without a proxy that the operator named, nothing that the visitor wrote counts.
    ['nobody is trusted', NOBODY, '203.0.113.7', '1.1.1.1', '203.0.113.7'],
    ['the peer is not trusted', PROXIES, '203.0.113.7', '1.1.1.1', '203.0.113.7'],
    ['the peer is not trusted and names a proxy', PROXIES, '203.0.113.7', '10.0.0.1', '203.0.113.7'],
    ['no header', PROXIES, '10.0.0.1', null, '10.0.0.1'],
    ['an empty header', PROXIES, '10.0.0.1', '', '10.0.0.1'],
    // From right to left, to the first that is no proxy of ours.
    ['one hop', PROXIES, '10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['spoofed hops on the left', PROXIES, '10.0.0.1', '1.1.1.1, 127.0.0.1, 203.0.113.7', '203.0.113.7'],
    ['two proxies', PROXIES, '10.0.0.1', '1.1.1.1, 203.0.113.7, 10.9.9.9', '203.0.113.7'],
    ['proxies all the way', PROXIES, '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['spaces and none', PROXIES, '10.0.0.1', ' 1.1.1.1,203.0.113.7 ,  10.0.0.2', '203.0.113.7'],
    // Text that is no address ends the search: nothing to the left of the text is trusted.
    ['rubbish on the right', PROXIES, '10.0.0.1', '203.0.113.7, unknown', '10.0.0.1'],
    ['rubbish in the middle', PROXIES, '10.0.0.1', '203.0.113.7, _hidden, 10.0.0.2', '10.0.0.2'],
    ['a bare number', PROXIES, '10.0.0.1', '1', '10.0.0.1'],
    ['an octal address', PROXIES, '10.0.0.1', '0177.0.0.1', '10.0.0.1'],
    // Ports and brackets, as some proxies write them.
    ['a port', PROXIES, '10.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
    ['brackets', PROXIES, '10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    ['brackets and a port', PROXIES, '10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
    // One address has one text, or one visitor would be two.
    ['a mapped peer', NOBODY, '::ffff:203.0.113.7', null, '203.0.113.7'],
    ['a mapped proxy', PROXIES, '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['a mapped hop', PROXIES, '10.0.0.1', '::ffff:203.0.113.7', '203.0.113.7'],
    ['a mapped hop in capitals', PROXIES, '10.0.0.1', '::FFFF:203.0.113.7', '203.0.113.7'],
    ['a mapped hop in hexadecimal', PROXIES, '10.0.0.1', '::ffff:cb00:7107', '203.0.113.7'],
    ['a mapped proxy among the hops', PROXIES, '10.0.0.1', '203.0.113.7, ::ffff:10.0.0.2', '203.0.113.7'],
    ['IPv6 in capitals, long form', PROXIES, 'fd00::1', '2001:DB8:0:0::7', '2001:db8::7'],
  ])('%s', (_, networks, peer, header, expected) => {
    expect(readClientAddress(peer, header, networks)).toBe(expected)
  })

  test('the hops before the visitor change nothing', () => {
    const left = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), { maxLength: 5 })
    fc.assert(
      fc.property(left, (hops) => {
        const header = [...hops, '203.0.113.7', '10.0.0.2'].join(', ')
        expect(readClientAddress('10.0.0.1', header, PROXIES)).toBe('203.0.113.7')
      }),
    )
  })
})

describe('the key of rate limits', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('%s is %s', (address, key) => {
    expect(toRateLimitKey(address)).toBe(key)
  })

  test('two IPv4 addresses never have the same key', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), (one, other) => {
        expect(toRateLimitKey(one) === toRateLimitKey(`::ffff:${other}`)).toBe(one === other)
      }),
    )
  })
})
