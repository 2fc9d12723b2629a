import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeCursor, encodeCursor } from './cursor.ts'

const order = fc.constantFrom('createdAt desc', 'clicks asc', 'slug asc')
const value = fc.oneof(
  fc.maxSafeInteger().map((number) => number + 0),
  fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
)
const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })

test('a cursor decodes to what was encoded, and needs no encoding in a URL', () => {
  fc.assert(
    fc.property(order, value, id, (its, at, row) => {
      const text = encodeCursor({ order: its, value: at, id: row })
      expect(encodeURIComponent(text)).toBe(text)
      expect(decodeCursor(text, its)).toEqual({ order: its, value: at, id: row })
    }),
  )
})

test('refuses a cursor of another order', () => {
  fc.assert(
    fc.property(value, id, (at, row) => {
      const text = encodeCursor({ order: 'clicks desc', value: at, id: row })
      expect(decodeCursor(text, 'clicks asc')).toBeUndefined()
    }),
  )
})

test('never throws for any text, and returns only values that stores accept', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json().map((json) => Buffer.from(json).toString('base64url')),
    fc
      .array(
        fc.oneof(fc.constant('clicks desc'), fc.double(), fc.string({ unit: 'binary' }), fc.maxSafeInteger()),
        {
          minLength: 3,
          maxLength: 3,
        },
      )
      .map((parts) => Buffer.from(JSON.stringify(parts)).toString('base64url')),
  )
  fc.assert(
    fc.property(anyText, (text) => {
      const cursor = decodeCursor(text, 'clicks desc')
      if (!cursor) return
      expect(Number.isSafeInteger(cursor.id)).toBe(true)
      if (typeof cursor.value === 'string') {
        expect(cursor.value.includes('\0')).toBe(false)
        expect(cursor.value.isWellFormed()).toBe(true)
      } else expect(Number.isSafeInteger(cursor.value)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

describe('refuses a made-up cursor', () => {
  const made = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  test.each([
    ['empty', ''],
    ['not base64', '%%%'],
    ['not JSON', Buffer.from('{').toString('base64url')],
    ['an object', made({ order: 'clicks desc', value: 1, id: 1 })],
    ['too few parts', made(['clicks desc', 1])],
    ['too many parts', made(['clicks desc', 1, 1, 1])],
    ['an id that is text', made(['clicks desc', 1, '1'])],
    ['an id with a fraction', made(['clicks desc', 1, 1.5])],
    ['an id beyond 2^53', made(['clicks desc', 1, 2 ** 60])],
    ['a value that is null', made(['clicks desc', null, 1])],
    ['a value that is a list', made(['clicks desc', [1], 1])],
    ['a value with NUL, which PostgreSQL cannot hold', made(['clicks desc', 'a\0', 1])],
    ['a value with half a surrogate pair', made(['clicks desc', '\ud800', 1])],
  ])('%s', (_, text) => {
    expect(decodeCursor(text, 'clicks desc')).toBeUndefined()
  })
})
