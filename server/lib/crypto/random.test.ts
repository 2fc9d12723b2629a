import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { randomBase62, randomFrom, randomToken, toBase62 } from './random.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('has the given length and characters of the alphabet only', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 200 }),
      fc.uniqueArray(fc.constantFrom(...DIGITS), { minLength: 2 }),
      (length, letters) => {
        const text = randomFrom(letters.join(''), length)
        expect(text).toHaveLength(length)
        expect([...text].every((letter) => letters.includes(letter))).toBe(true)
      },
    ),
  )
})

test('every letter is equally likely, also where 256 is no multiple of the alphabet', () => {
  const draws = 62_000
  const counts = new Map<string, number>()
  for (const letter of randomBase62(draws)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  const expected = draws / 62
  const chiSquare = [...DIGITS].reduce(
    (sum, digit) => sum + ((counts.get(digit) ?? 0) - expected) ** 2 / expected,
    0,
  )
  // 61 degrees of freedom: above 150 happens by chance once in 10^8; taking bytes modulo 62 gives about 590.
  expect(chiSquare).toBeLessThan(150)
})

test('base 62 has the value and the width of the number', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (number) => {
      const text = toBase62(number, 6)
      expect(text).toMatch(/^[0-9A-Za-z]{6}$/)
      expect([...text].reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0)).toBe(number)
    }),
  )
})

test('a token is base64url of that many bytes, and never the same twice', () => {
  expect(Buffer.from(randomToken(32), 'base64url')).toHaveLength(32)
  expect(randomToken(32)).not.toBe(randomToken(32))
})
