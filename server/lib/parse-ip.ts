// IP addresses as the numbers they are, without making anything on the way: for look-ups by the hundred thousand.
// Strict: only what a server names its peers by. (ip-network.ts reads what people write.)

/** Four words of 32 bits; an IPv4 address is the first alone. */
export type IpWords = Uint32Array

const DOT = 46
const COLON = 58

/** Four decimal numbers without leading zeros. Leaves nothing useful in `words` when it is false. */
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
      // Not after a zero: "010" is eight to some and ten to others.
      if (code < 48 || code > 57 || part === 0) return false
      part = Math.max(part, 0) * 10 + code - 48
      if (part > 255) return false
    }
  }
  words[0] = (word << 8) | part
  return dots === 3 && part >= 0
}

const groups = new Uint16Array(8)

/** Groups of hexadecimal digits, `::` at most once. Neither a zone nor IPv4 in dots. */
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
    // Colons stand between groups, and nowhere else.
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
