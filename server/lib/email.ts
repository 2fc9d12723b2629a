// What counts as an e-mail address: the rule of browsers for `<input type=email>`, and a dot in the domain, since one
// without it is a slip on the internet.

// https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address, with at least one dot.
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/

// RFC 3696, erratum 1690: what fits into an SMTP path.
export const EMAIL_MAX = 254

/** @param text trimmed */
export const isEmail = (text: string) => text.length <= EMAIL_MAX && EMAIL.test(text)
