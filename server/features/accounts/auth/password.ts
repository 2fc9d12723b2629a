// The rules for a person's password, and its hash. lib/crypto/password.ts computes at most two hashes at a time.

import { text } from '../../../lib/api-fields.ts'
import { checkPassword, hashPassword } from '../../../lib/crypto/password.ts'
import { isCommonPassword } from './common-passwords.ts'

export const PASSWORD_MIN = 10
/** In characters. A longer password only costs hashing time. */
export const PASSWORD_MAX = 128

/** A password that a person chooses. */
export const NewPassword = text(PASSWORD_MIN, PASSWORD_MAX).refine(
  (password) => !isCommonPassword(password),
  'is one of the most common passwords: choose another one',
)

/** A password that a person signs in with. The rules were applied when it was chosen. */
export const GivenPassword = text(1, 1024)

// Different keyboards type the same word as different code points (RFC 8265 §4.2.2).
const normalizePassword = (password: string) => password.normalize('NFKC')

export const hashUserPassword = (password: string) =>
  hashPassword(normalizePassword(password)) as Promise<string>

export const checkUserPassword = (password: string, hash: string) =>
  checkPassword(normalizePassword(password), hash)
