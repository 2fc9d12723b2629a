import { expect, test } from 'bun:test'
import { requestId } from './request-id.ts'

const NEW = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

test.each(['abcdefgh', 'A-1-b-2-C', '0'.repeat(64)])('accepts the request id %s', (given) => {
  expect(requestId(given)).toBe(given)
})

test.each([
  ['none', null],
  ['empty', ''],
  ['7 characters', 'abcdefg'],
  ['65 characters', 'a'.repeat(65)],
  ['a space', 'abcd efgh'],
  ['a quote', 'abcdefg"'],
  ['a line break', 'abcdefgh\n'],
  ['an underscore', 'abcd_efgh'],
  ['a letter beyond ASCII', 'abcdefgé'],
])('makes a new request id: %s', (_, given) => {
  expect(requestId(given)).toMatch(NEW)
})
