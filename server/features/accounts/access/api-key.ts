// The format of an API key: `tp_`, 30 random base62 characters, and their CRC-32 in 6 (docs/contract.md §9). The
// checksum rejects typing errors without a query, and lets secret scanners recognize a leaked key.

import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from '../../../lib/crypto/random.ts'

const PREFIX = 'tp_'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const FORMAT = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

const checksum = (text: string) => toBase62(crc32(text), CHECKSUM_LENGTH)

export function generateApiKey(): string {
  const body = PREFIX + randomBase62(RANDOM_LENGTH)
  return body + checksum(body)
}

export function isApiKey(text: string): boolean {
  return FORMAT.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

const BEARER = /^Bearer +(\S+) *$/i

/** @returns the key in an Authorization header, without a check */
export const readBearer = (authorization: string): string | undefined => BEARER.exec(authorization)?.[1]
