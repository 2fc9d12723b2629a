// Recognizing a web address in the palette's text.

import { expect, test } from 'bun:test'
import { findPastedUrl, stripAroundUrl } from '../../dashboard/shell/pasted-url.ts'

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
