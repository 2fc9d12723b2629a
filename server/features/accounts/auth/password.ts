// What a person's password may be, and how it is kept: by the house's own hash, two at a time.

import { text } from '../../../lib/api-fields.ts'
import { checkPassword, hashPassword } from '../../../lib/password.ts'
import { isCommonPassword } from './common-passwords.ts'

export const PASSWORD_MIN = 10
/** Of characters; longer ones only cost time. */
export const PASSWORD_MAX = 128

/** One that is being chosen. */
export const NewPassword = text(PASSWORD_MIN, PASSWORD_MAX).refine(
  (password) => !isCommonPassword(password),
  'is one of the most common passwords: choose another one',
)

/** One that is being shown: what it may be was asked when it was chosen. */
export const GivenPassword = text(1, 1024)

// The same word is typed as different code points on different keyboards (RFC 8265 §4.2.2).
const normalizePassword = (password: string) => password.normalize('NFKC')

export const hashUserPassword = (password: string) =>
  hashPassword(normalizePassword(password)) as Promise<string>

export const checkUserPassword = (password: string, hash: string) =>
  checkPassword(normalizePassword(password), hash)
