// Hostile field values that try to turn a form's reply into an email of the sender's, and signs that one succeeded.

import fc from 'fast-check'
import { getDomain } from 'tldts'

const FRAGMENTS = [
  'http://evil.example/login',
  'HTTPS://EVIL.EXAMPLE',
  'hxxp:evil',
  'javascript:alert(1)',
  'mailto:boss@evil.example',
  'tel:+4912345',
  '//evil.example',
  '\\\\evil.example\\share',
  'www.evil.example',
  'WWW.',
  'evil',
  'evil.',
  '.evil',
  '.',
  '.example',
  '.com',
  '.co.uk',
  'evil.com/path?q=1#x',
  'bit.ly/x',
  'xn--e1afmkfd.xn--p1ai',
  'пример.рф',
  'ｅｖｉｌ．ｃｏｍ',
  'evil。com',
  'ev\u00adil\u200b.c\u2060om',
  'evil\u200d.com',
  '@',
  'victim@evil.com',
  '1.2.3.4',
  '192.0.2.1:8080/x',
  ':',
  '/',
  '\r\nBcc: victim@evil.com',
  '\nSubject: Your account',
  '\r\n\r\n<h1>',
  '\r\n.\r\nMAIL FROM:<a@b.example>\r\n',
  '%0d%0aBcc:',
  '=?utf-8?B?aHR0cDovL2V2aWwuY29t?=',
  '<a href="http://evil.com">',
  '</a>',
  '<',
  '>',
  '[click](http://evil.com)',
  '](',
  '[x]: evil.com',
  '{{message}}',
  '{{confirm}}',
  '{{unsubscribe}}',
  '{{',
  '}}',
  '{{email}}',
  '$&',
  '$1',
  '\0',
  '\ud800',
  '\u202emoc.live',
  '\u2066',
  '\u2028',
  '\u0085',
  '\u00a0',
  '\t',
  ' ',
  ' ',
  '  ',
  'Ada',
  'Zoë',
  '𝕖𝕧𝕚𝕝.𝕔𝕠𝕞',
  'é́́́́́',
  '💌',
  'x'.repeat(120),
]

export const hostileText = (max = 12): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(...FRAGMENTS) },
        fc.string({ unit: 'binary', maxLength: 8 }),
      ),
      { maxLength: max },
    )
    .map((parts) => parts.join(''))

/** The pieces between spaces and punctuation: mail programs look at these when they make links. */
const listWords = (text: string) => text.split(/[\s"'()<>,;!|{}[\]]+/u).filter((word) => word !== '')

/** @returns what in the text a mail program could make a link of, or hides something */
export function findDangers(text: string): string[] {
  const dangers = listWords(text).filter((word) => {
    const bare = word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    const domain = /\p{L}/u.test(bare) ? getDomain(bare) : null
    // Every top-level domain has letters, and one in ASCII has at least two.
    const top = domain?.split('.').at(-1) ?? ''
    return /[a-z]:\/|\/\/|\\\\|^www\.|@/iu.test(word) || (/^\D*\p{L}/u.test(top) && !/^[a-z]$/i.test(top))
  })
  const hidden = text.replaceAll('\n', '').match(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u) ?? []
  return [...dangers, ...hidden]
}
