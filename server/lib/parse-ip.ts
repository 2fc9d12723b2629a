// Parses IP addresses: to words of 32 bits for look-ups by the hundred thousand, which allocate nothing, and to objects.

import ipaddr from 'ipaddr.js'

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

const ipv4Words = new Uint32Array(1)

/**
 * IPv4 must be four decimal numbers. The library also accepts `1`, `0x7f.1` and octal, so the `TRUST_PROXY=1` of
 * other products would be a network. Mapped IPv4 (`::ffff:1.2.3.4`) becomes the IPv4 that it is.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (text.includes(':')) return ipaddr.IPv6.isValid(text) ? ipaddr.process(text) : undefined
  if (!parseIPv4(text, ipv4Words)) return undefined
  const word = ipv4Words[0] as number
  return new ipaddr.IPv4([word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255])
}

/** A dual-stack socket reports the IPv4 client 1.2.3.4 as `::ffff:1.2.3.4`. @returns 1.2.3.4 */
export const unmapAddress = (address: string) =>
  address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address

/** Whether the text is an address of this machine itself. */
export const isLoopback = (text: string) => parseIpAddress(text)?.range() === 'loopback'

/** Four words of 32 bits. An IPv4 address is the first word alone. */
export type IpWords = Uint32Array

const DOT = 46
const COLON = 58

/** Takes four decimal numbers without leading zeros. When the result is false, `words` has no meaning. */
export function parseIPv4(text: string, words: IpWords): boolean {
  let word = 0
  let part = -1
  let dots = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === DOT) {
      if (part < 0) return false
      dots++
      word = (word << 8) | part
      part = -1
    } else {
      // No digit after a leading zero: some programs read "010" as eight, and others as ten.
      if (code < 48 || code > 57 || part === 0) return false
      part = Math.max(part, 0) * 10 + code - 48
      if (part > 255) return false
    }
  }
  words[0] = (word << 8) | part
  return dots === 3 && part >= 0
}

const groups = new Uint16Array(8)

/** Takes groups of hexadecimal digits, with `::` at most once; no zone, and no IPv4 with dots. */
export function parseIPv6(text: string, words: IpWords): boolean {
  let count = 0
  let gap = -1
  let at = 0
  while (at < text.length) {
    if (text.charCodeAt(at) === COLON && text.charCodeAt(at + 1) === COLON) {
      if (gap !== -1) return false
      gap = count
      at += 2
      continue
    }
    // A colon may stand between two groups only.
    if (count > 0 && gap !== count && text.charCodeAt(at++) !== COLON) return false
    const start = at
    let group = 0
    for (let digit = 0; at < text.length; at++, group = group * 16 + digit) {
      digit = hexDigit(text.charCodeAt(at))
      if (digit < 0) break
    }
    if (at === start || at - start > 4 || count === 8) return false
    groups[count++] = group
  }
  if (gap === -1 ? count !== 8 : count > 7) return false
  const zeros = 8 - count
  const groupAt = (i: number) => {
    if (i < gap || gap === -1) return groups[i] as number
    return i < gap + zeros ? 0 : (groups[i - zeros] as number)
  }
  for (let i = 0; i < 4; i++) words[i] = groupAt(2 * i) * 65_536 + groupAt(2 * i + 1)
  return true
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}
