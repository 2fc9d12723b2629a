// Random texts from the system's cryptographic generator.

import { randomBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `bytes` random bytes as base64url. */
export const randomToken = (bytes: number) => randomBytes(bytes).toString('base64url')

/** Bytes that are fetched at once: a call to the system takes as long as the rest of an id. Each byte is used once. */
const FETCHED = 1024
let fetched = Buffer.alloc(0)
let used = 0

function nextByte(): number {
  if (used === fetched.length) {
    fetched = randomBytes(FETCHED)
    used = 0
  }
  return fetched[used++] as number
}

/** `length` characters of `alphabet`, each equally likely: bytes above the largest multiple of its size are skipped. */
export function randomFrom(alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    const byte = nextByte()
    if (byte < limit) text += alphabet[byte % alphabet.length]
  }
  return text
}

export const randomBase62 = (length: number) => randomFrom(BASE62, length)

/** `number` in base 62, left-padded with zeros to `length`. */
export function toBase62(number: number, length: number): string {
  let text = ''
  for (let rest = number; rest > 0; rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text
  return text.padStart(length, '0')
}
