// SHA-256 of a text in hex. For secrets that are random tokens (178 bits or more): nobody can guess such a token, so a
// fast hash is enough, and a reader of the database cannot use the stored hash. Passwords need lib/crypto/password.ts.

import { createHash } from 'node:crypto'

export const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')
