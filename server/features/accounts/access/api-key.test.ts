import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale, quick } from '../../../../tests/support/suite.ts'
import { generateApiKey, isApiKey } from './api-key.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('a key is tp_ and 36 letters or digits, and each is different', () => {
  const keys = Array.from({ length: atScale({ quick: 100, full: 1_000, soak: 1_000 }) }, generateApiKey)
  for (const key of keys) {
    expect(key).toMatch(/^tp_[0-9A-Za-z]{36}$/)
    expect(isApiKey(key)).toBe(true)
  }
  expect(new Set(keys).size).toBe(keys.length)
})

test('the last six characters are the CRC-32 of the rest in base 62, for secret scanners', () => {
  const body = `tp_${'0'.repeat(30)}`
  const crc = Bun.hash.crc32(body)
  let check = ''
  for (let rest = crc; rest > 0; rest = Math.floor(rest / 62)) check = BASE62[rest % 62] + check
  expect(isApiKey(body + check.padStart(6, '0'))).toBe(true)
})

test('detects one wrong, missing or swapped character', () => {
  fc.assert(
    fc.property(fc.nat(35), fc.constantFrom(...BASE62), (place, letter) => {
      const key = generateApiKey()
      const at = place + 3
      const wrong = key.slice(0, at) + letter + key.slice(at + 1)
      expect(isApiKey(wrong)).toBe(wrong === key)
      expect(isApiKey(key.slice(0, at) + key.slice(at + 1))).toBe(false)
      const swapped = key.slice(0, at - 1) + key[at] + key[at - 1] + key.slice(at + 1)
      if (at > 3) expect(isApiKey(swapped)).toBe(swapped === key)
    }),
    { numRuns: atScale({ quick: 50, full: 500, soak: 500 }) },
  )
})

quick('accepts no other text as a key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => !isApiKey(text)),
    { numRuns: atScale({ quick: 20, full: 100, soak: 100 }) },
  )
  const key = generateApiKey()
  for (const text of ['', 'tp_', key.toUpperCase(), ` ${key}`, `${key}\n`, key.slice(3), `${key}0`]) {
    expect(isApiKey(text)).toBe(false)
  }
})
