// The form of an API key: `tp_` + 30 random base62 + 6 of CRC-32 (docs/contract.md §9). The checksum refuses typing
// errors before the database is asked, and lets secret scanners recognise a leaked key.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from '../../../lib/random.ts'

const PREFIX = 'tp_'
const RANDOM = 30
const CHECK = 6
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM + CHECK}}$`)

const checksum = (text: string) => toBase62(crc32(text), CHECK)

export function generateApiKey(): string {
  const body = PREFIX + randomBase62(RANDOM)
  return body + checksum(body)
}

export function isApiKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECK)) === text.slice(-CHECK)
}

/** SHA-256 in hex. A fast hash is right for 178 random bits, and what is looked up is never the key itself. */
export const hashApiKey = (key: string) => createHash('sha256').update(key).digest('hex')
