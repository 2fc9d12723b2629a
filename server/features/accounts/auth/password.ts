// The rules for a person's password, and its hash. lib/crypto/password.ts computes at most two hashes at a time.

import { text } from '../../../lib/api-fields.ts'
import { checkPassword, hashPassword } from '../../../lib/crypto/password.ts'
import { invalid } from '../../../lib/failure.ts'
import { countCharacters, normalizeUnicode } from '../../../lib/text.ts'
import { loadPasswordList } from '../abuse/password-list.ts'
import { isPersonalPassword, type PasswordOwner } from '../abuse/personal-words.ts'
import { isCommonPassword } from './common-passwords.ts'

/** OWASP ASVS 5.0, 6.2.1 requires 8 characters and recommends 15. */
export const PASSWORD_MIN = 12
export const PASSWORD_MIN_WITH_SECOND_FACTOR = 8
/** In characters. A longer password only costs hashing time. */
export const PASSWORD_MAX = 128

/** A password that a person chooses. `requireGoodPassword` has the rules that depend on the person. */
export const NewPassword = text(1, PASSWORD_MAX)

/** A password that a person signs in with. The rules were applied when it was chosen. */
export const GivenPassword = text(1, 1024)

interface NewPasswordOwner extends PasswordOwner {
  /** A person who signs in with a second factor may have a shorter password. */
  hasSecondFactor?: boolean
}

/** @param field the field of the request that has the password @throws Failure `invalid` */
export async function requireGoodPassword(
  password: string,
  { hasSecondFactor = false, ...owner }: NewPasswordOwner,
  field = 'password',
): Promise<void> {
  const min = hasSecondFactor ? PASSWORD_MIN_WITH_SECOND_FACTOR : PASSWORD_MIN
  const refuse = (message: string) => invalid({ [field]: message })
  if (countCharacters(password) < min) throw refuse(`must be at least ${min} characters`)
  if (isCommonPassword(password, await loadPasswordList()))
    throw refuse('This password is too common. Choose another one.')
  if (isPersonalPassword(password, owner))
    throw refuse(
      'This password is too close to your name, your address or the name of this site. Choose another one.',
    )
}

// Different keyboards type the same word as different code points (RFC 8265 §4.2.2).
const normalizePassword = (password: string) => normalizeUnicode(password, 'NFKC')

export const hashUserPassword = (password: string) =>
  hashPassword(normalizePassword(password), 'people') as Promise<string>

export const checkUserPassword = (password: string, hash: string) =>
  checkPassword(normalizePassword(password), hash, 'people')
