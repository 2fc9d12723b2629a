// Detects the encoding of a text file, and decodes it. An invalid byte is an error, not a replacement character.

import { isUtf8 } from 'node:buffer'
import { recognizeUnicode } from '../../../lib/formats/charset.ts'
import { type FileEncoding, FileProblem } from './source-file.ts'

const TITLES: Record<FileEncoding, string> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 LE',
  'utf-16be': 'UTF-16 BE',
  'windows-1252': 'Windows-1252',
}

/** Bytes without a character in Windows-1252. The WHATWG decoder returns control characters for them. */
const NOT_IN_WINDOWS_1252 = /[\x81\x8d\x8f\x90\x9d]/

/** A byte outside the encoding. The reader of records adds the row. */
export class InvalidByte extends FileProblem {
  constructor(
    readonly encoding: FileEncoding,
    byte: number,
  ) {
    const hex = byte.toString(16).toUpperCase().padStart(2, '0')
    super(`byte 0x${hex} is no ${TITLES[encoding]}. Save the file as UTF-8.`)
  }
}

/** @param sample the start of the file; @param isWhole true if it is the whole file */
export function recognizeEncoding(sample: Uint8Array, isWhole: boolean): FileEncoding {
  const unicode = recognizeUnicode(sample)
  if (unicode) return unicode
  const { valid, invalid } = countSequences(sample, isWhole)
  // A few invalid bytes do not make a UTF-8 file Windows-1252: they are errors.
  return invalid > valid ? 'windows-1252' : 'utf-8'
}

function countSequences(sample: Uint8Array, isWhole: boolean): { valid: number; invalid: number } {
  if (isUtf8(sample)) return { valid: 1, invalid: 0 }
  let [valid, invalid] = [0, 0]
  for (let at = 0; at < sample.length; ) {
    const lead = sample[at] as number
    if (lead < 0x80) {
      at++
      continue
    }
    const length = sequenceLength(lead)
    const isCut = !isWhole && at + length > sample.length
    if (isCut) break
    if (length > 1 && isUtf8(sample.subarray(at, at + length))) {
      valid++
      at += length
    } else {
      invalid++
      at++
    }
  }
  return { valid, invalid }
}

const sequenceLength = (lead: number) =>
  lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1

export interface TextDecoding {
  /** The text of these bytes, after those left over from the previous piece. @throws InvalidByte */
  decode(piece: Uint8Array): string
  /** The rest at the end of the file. @throws InvalidByte */
  end(): void
  /** The text before the byte that made `decode` throw. */
  beforeError(): string
}

/** Decodes pieces of a file. It drops a byte order mark at its start. */
export function createDecoding(encoding: FileEncoding): TextDecoding {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let carried: Uint8Array = new Uint8Array()
  let good = ''
  const check = (text: string, bytes: Uint8Array) => {
    if (encoding !== 'windows-1252') return text
    const at = text.search(NOT_IN_WINDOWS_1252)
    if (at < 0) return text
    good = text.slice(0, at)
    throw new InvalidByte(encoding, bytes[at] as number)
  }
  const fail = (bytes: Uint8Array) => {
    const at = findInvalidByte(bytes, encoding)
    good = new TextDecoder(encoding).decode(bytes.subarray(0, at))
    return new InvalidByte(encoding, bytes[at] ?? 0)
  }
  return {
    decode(piece) {
      const bytes = carried.length > 0 ? Buffer.concat([carried, piece]) : piece
      const length = countWholeBytes(bytes, encoding)
      carried = bytes.slice(length)
      const whole = bytes.subarray(0, length)
      let text: string
      try {
        text = decoder.decode(whole, { stream: true })
      } catch {
        throw fail(whole)
      }
      return check(text, whole)
    },
    end() {
      if (carried.length > 0) {
        good = ''
        throw new InvalidByte(encoding, carried[0] as number)
      }
    },
    beforeError: () => good,
  }
}

/** The number of bytes of complete characters: the last character can continue in the next piece. */
function countWholeBytes(bytes: Uint8Array, encoding: FileEncoding): number {
  const { length } = bytes
  if (encoding === 'windows-1252') return length
  if (encoding === 'utf-8') {
    for (let back = 1; back <= Math.min(3, length); back++) {
      const byte = bytes[length - back] as number
      if (byte < 0x80) return length
      if (byte >= 0xc0) return sequenceLength(byte) > back ? length - back : length
    }
    return length
  }
  const even = length & ~1
  const high = even >= 2 ? (bytes[encoding === 'utf-16le' ? even - 1 : even - 2] as number) : 0
  // A high surrogate continues in the next piece.
  return (high & 0xfc) === 0xd8 ? even - 2 : even
}

/** Finds the first invalid byte by bisection. */
function findInvalidByte(bytes: Uint8Array, encoding: FileEncoding): number {
  const isValid = (end: number, stream: boolean) => {
    try {
      new TextDecoder(encoding, { fatal: true }).decode(bytes.subarray(0, end), { stream })
      return true
    } catch {
      return false
    }
  }
  let [low, high] = [0, bytes.length]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (isValid(middle, true)) low = middle
    else high = middle
  }
  // An incomplete character is invalid from its first byte.
  while (!isValid(low, false)) low--
  return low
}
