// Checks email addresses by the rule of browsers for `<input type=email>`. The domain must have a dot, because an address
// without one is a typing mistake on the internet.

import { trimInvisible } from './clean-text.ts'
import { toAsciiHost } from './web-url.ts'

// https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address, with at least one dot.
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/

// The longest address in an SMTP path: RFC 3696, erratum 1690.
export const EMAIL_MAX = 254

/** @param text trimmed */
export const isEmail = (text: string) => text.length <= EMAIL_MAX && EMAIL.test(text)

/**
 * The address that a person has typed, in the form in which addresses are compared: without the blanks and zero-width
 * characters that copying leaves around it, and with its domain in ASCII (IDNA).
 * @returns undefined for text that is no address
 */
export function toEmailAddress(text: string): string | undefined {
  const typed = trimInvisible(text)
  if (isEmail(typed)) return typed
  const at = typed.lastIndexOf('@')
  if (at === -1 || typed.length > EMAIL_MAX) return undefined
  const address = `${typed.slice(0, at)}@${toAsciiHost(typed.slice(at + 1))}`
  return isEmail(address) ? address : undefined
}
