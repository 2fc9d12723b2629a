import { describe, expect, test } from 'bun:test'
import { type Network, parseNetwork } from '../lib/ip-network.ts'
import { isAllowedAddress } from './address-policy.ts'

const REFUSED = `
  0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16
  169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1
  198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1
  ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
  ::ffff:168.63.129.16 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::7f00:1 100::1 2001::1 2001:0:7f00:1::1
  2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254
  fd20:ce::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 4000::1 localhost 127.1 2130706433 0x7f.0.0.1
  0177.0.0.1
`
  .trim()
  .split(/\s+/)

const PUBLIC =
  '1.1.1.1 8.8.8.8 172.32.0.1 100.128.0.1 ::ffff:8.8.8.8 2606:4700:4700::1111 2a00:1450::1'.split(' ')

const networks = (...texts: string[]) => texts.map((text) => parseNetwork(text) as Network)

describe('an outgoing request', () => {
  test.each([...REFUSED, ''])('does not go to %s', (address) => {
    expect(isAllowedAddress(address, [])).toBe(false)
    expect(isAllowedAddress(address, networks('198.19.0.0/32'))).toBe(false)
  })

  test.each(PUBLIC)('can go to %s', (address) => {
    expect(isAllowedAddress(address, [])).toBe(true)
  })

  test('goes to a private address only if the operator allows it', () => {
    const allow = networks('192.168.1.0/24', 'fd00::/8')
    expect(isAllowedAddress('192.168.1.7', allow)).toBe(true)
    expect(isAllowedAddress('::ffff:192.168.1.7', allow)).toBe(true)
    expect(isAllowedAddress('fd00::7', allow)).toBe(true)
    expect(isAllowedAddress('192.168.2.7', allow)).toBe(false)
    expect(isAllowedAddress('::1', allow)).toBe(false)
  })

  test('reaches through an allowed NAT64 only what it can reach without', () => {
    const allow = networks('64:ff9b::/96')
    expect(isAllowedAddress('64:ff9b::8.8.8.8', allow)).toBe(true)
    expect(isAllowedAddress('64:ff9b::127.0.0.1', allow)).toBe(false)
    expect(isAllowedAddress('64:ff9b::10.0.0.1', [...allow, ...networks('10.0.0.0/8')])).toBe(true)
  })
})
