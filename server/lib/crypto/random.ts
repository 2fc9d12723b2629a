// Random texts from the system's cryptographic generator.

import { randomBytes } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `bytes` random bytes as base64url. */
export const randomToken = (bytes: number) => randomBytes(bytes).toString('base64url')

/** `length` characters of `alphabet`, each equally likely: bytes above the largest multiple of its size are skipped. */
export function randomFrom(alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length]
    }
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
