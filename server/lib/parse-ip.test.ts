import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { atScale } from '../../tests/support/suite.ts'
import { parseIPv4, parseIPv6 } from './parse-ip.ts'

const words = new Uint32Array(4)
const read4 = (text: string) => (parseIPv4(text, words) ? words[0] : null)
const read6 = (text: string) => (parseIPv6(text, words) ? [...words] : null)

const wordsOf = (text: string) => {
  const parts = ipaddr.IPv6.parse(text).parts
  return [0, 2, 4, 6].map((i) => (parts[i] as number) * 65_536 + (parts[i + 1] as number))
}

test('parses IPv4 addresses', () => {
  fc.assert(
    fc.property(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)), (bytes) => {
      expect(read4(bytes.join('.'))).toBe(Buffer.from(bytes).readUInt32BE())
    }),
  )
})

test('parses IPv6 addresses as the library does', () => {
  fc.assert(
    fc.property(
      fc.ipV6().filter((text) => !text.includes('.')),
      (text) => {
        expect(read6(text)).toEqual(wordsOf(text))
        expect(read6(text.toUpperCase())).toEqual(wordsOf(text))
        expect(read6(ipaddr.parse(text).toString())).toEqual(wordsOf(text))
      },
    ),
    { numRuns: atScale({ quick: 500, full: 2000, soak: 2000 }) },
  )
})

describe('rejects texts that are no address', () => {
  test.each([
    '',
    '1',
    '1.2.3',
    '1.2.3.',
    '.1.2.3',
    '1..2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4 ',
    '0x1.2.3.4',
    '::1',
  ])('IPv4 "%s"', (text) => expect(read4(text)).toBeNull())
  test.each([
    '',
    ':',
    ':::',
    '1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    ':1::2',
    '1::2:',
    '1:::2',
    '::1::2',
    '12345::',
    'g::',
    '1:2:3:4:5:6:7:',
    '::1:2:3:4:5:6:7:8',
    'fe80::1%eth0',
    '::ffff:1.2.3.4',
    '1.2.3.4',
  ])('IPv6 "%s"', (text) => expect(read6(text)).toBeNull())

  test('accepts everything that the library accepts', () => {
    const strange = fc.string({ unit: fc.constantFrom('1', 'f', ':', '::', '0', '.', 'g'), maxLength: 20 })
    fc.assert(
      fc.property(strange, (text) => {
        if (text.includes('.')) return
        expect(read6(text) !== null).toBe(text.includes(':') && ipaddr.IPv6.isValid(text))
      }),
      { numRuns: atScale({ quick: 1000, full: 5000, soak: 5000 }) },
    )
  })
})
