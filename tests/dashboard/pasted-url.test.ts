// Recognizing a web address in the palette's text.

import { expect, test } from 'bun:test'
import { findPastedUrl, isOnHost, isShortUrlOf } from '../../dashboard/shell/pasted-url.ts'
import { stripAroundUrl } from '../../dashboard/ui/forms/strip-around-url.ts'

test.each([
  ['https://example.com/a?b=1#c', 'https://example.com/a?b=1#c'],
  [' HTTP://localhost:3000/x ', 'HTTP://localhost:3000/x'],
  ['www.example.com/shoes', 'https://www.example.com/shoes'],
  ['example.co.uk:8443?x', 'https://example.co.uk:8443?x'],
])('the palette offers to shorten %p', (text, url) => expect(findPastedUrl(text)).toBe(url))

test.each([
  '',
  'spring',
  'two words.com',
  'ada@example.com',
  'https://ada:secret@example.com/',
  'https://',
  'javascript:alert(1)',
  'ftp://example.com/',
  '1.5',
  `https://example.com/${'a'.repeat(8192)}`,
])('the palette does not offer to shorten %p', (text) => expect(findPastedUrl(text)).toBeUndefined())

test.each([
  '"https://a.example/x"',
  '<https://a.example/x>',
  '“https://a.example/x”',
  "'https://a.example/x'",
  ' \t\u00a0https://a.example/x\n',
  '\u200b«https://a.example/x»',
  '` https://a.example/x `',
])('nothing around an address stays: %p', (text) => {
  expect(stripAroundUrl(text)).toBe('https://a.example/x')
  expect(findPastedUrl(text)).toBe('https://a.example/x')
})

test.each([
  ['https://go.example/x', true],
  ['http://GO.example:3000/x', true],
  ['https://links.acme.example/a/b?c#d', true],
  ['https://example.com/go.example/x', false],
  ['https://www.go.example.com/x', false],
])('%p is on one of our hosts: %p', (url, isOurs) =>
  expect(isOnHost(url, ['go.example', 'links.acme.example'])).toBe(isOurs),
)

test.each([
  ['https://alias.example/Spring', true],
  ['https://alias.example/spring/', true],
  ['https://alias.example/spring+', true],
  ['https://alias.example/spring),', true],
  ['https://alias.example/spring.?utm_source=mail#top', true],
  ['https://alias.example/spring%E2%80%9D', true],
  ['https://alias.example/%zz', false],
  ['https://alias.example/springs', false],
  ['https://alias.example/', false],
  ['https://example.com/spring', false],
])('%p is the short URL of a link that was found: %p', (url, isIts) =>
  expect(isShortUrlOf(url, { slug: 'spring', destinationUrl: 'https://example.com/spring' })).toBe(isIts),
)
