// Decodes text by its charset. Labels are those of the WHATWG Encoding Standard: https://encoding.spec.whatwg.org/#names-and-labels

import { isUtf8 } from 'node:buffer'

/** Browsers use this for a page without a charset. */
const DEFAULT_LEGACY = 'windows-1252'

/** @returns the charset parameter of a Content-Type as written, in a header or in a meta element */
export const parseCharset = (contentType: string | null): string | undefined =>
  /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType ?? '')?.[1]

/** @returns the name of the encoding in lower case, such as `windows-1252` for `latin1`; undefined where it is unknown */
export function findEncoding(label: string | undefined): string | undefined {
  if (!label) return undefined
  try {
    return new TextDecoder(label as 'utf-8').encoding
  } catch {
    return undefined
  }
}

/** Decodes bytes that must be valid. @returns undefined where they are not, or where the label is unknown */
export function decodeStrictly(bytes: Uint8Array, label: string): string | undefined {
  try {
    // A byte order mark of UTF-8 stays, because it is a character that was sent.
    return new TextDecoder(label as 'utf-8', { fatal: true, ignoreBOM: !/^utf-?16/i.test(label) }).decode(
      bytes,
    )
  } catch {
    return undefined
  }
}

/**
 * Never answers with U+FFFD for bytes that it cannot read.
 * @param encoding undefined or `utf-8` where texts that are not UTF-8 are windows-1252
 * @returns undefined where the bytes are neither in this encoding nor UTF-8
 */
export function decodeText(bytes: Uint8Array, encoding: string | undefined): string | undefined {
  const isLegacy = encoding !== undefined && encoding !== 'utf-8'
  const text = isLegacy ? decodeStrictly(bytes, encoding) : undefined
  if (text !== undefined) return text
  if (isUtf8(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  return isLegacy ? undefined : decodeStrictly(bytes, DEFAULT_LEGACY)
}

const BYTE_ORDER_MARKS: [UnicodeEncoding, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

type UnicodeEncoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/** @returns the encoding that a byte order mark names, or that the zeros of UTF-16 show; null where there are none */
export function recognizeUnicode(sample: Uint8Array): UnicodeEncoding | null {
  const marked = BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, index) => sample[index] === byte))
  if (marked) return marked[0]
  // Text of any European language has a zero in most of its pairs of bytes, always on the same side.
  const pairs = Math.min(sample.length, 4096) >> 1
  if (pairs === 0) return null
  const zeros = [0, 0]
  for (let at = 0; at < pairs * 2; at++) if (sample[at] === 0) zeros[at & 1] = (zeros[at & 1] as number) + 1
  const [even, odd] = zeros as [number, number]
  if (odd > pairs / 2 && even <= pairs / 20) return 'utf-16le'
  if (even > pairs / 2 && odd <= pairs / 20) return 'utf-16be'
  return null
}

const [PERCENT, PLUS, SPACE] = [0x25, 0x2b, 0x20]

/** Decodes `%HH`, and with `plus` each `+` as a blank. Other percent signs stay. */
export function decodePercents(bytes: Uint8Array, { plus }: { plus: boolean }): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    const high = byte === PERCENT ? toHexDigit(bytes[at + 1]) : -1
    const low = high < 0 ? -1 : toHexDigit(bytes[at + 2])
    if (low >= 0) {
      decoded[length++] = high * 16 + low
      at += 2
    } else decoded[length++] = plus && byte === PLUS ? SPACE : byte
  }
  return decoded.subarray(0, length)
}

/** @returns -1 for what is no hexadecimal digit */
function toHexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
