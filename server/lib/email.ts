// Checks email addresses by the rule of browsers for `<input type=email>`. The domain must have a dot, because an address
// without one is a typing mistake on the internet.

// https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address, with at least one dot.
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/

// The longest address in an SMTP path: RFC 3696, erratum 1690.
export const EMAIL_MAX = 254

/** @param text trimmed */
export const isEmail = (text: string) => text.length <= EMAIL_MAX && EMAIL.test(text)
