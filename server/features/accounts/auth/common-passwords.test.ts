import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { measureProcessorMs } from '../../../../tests/support/processor-time.ts'
import { atScale } from '../../../../tests/support/suite.ts'
import { isCommonPassword } from './common-passwords.ts'

test.each([
  'password12',
  'Password123!',
  'P@ssw0rd2026',
  '!!letmein!!',
  'l e t m e i n n o w',
  'qwertyuiop',
  'poiuytrewq',
  'QWERTY12345',
  '1234567890',
  '0987654321',
  'abcdefghij',
  '1q2w3e4r5t',
  'aaaaaaaaaa',
  '1212121212',
  'abcabcabcabc',
  'changeme2026',
  'iloveyou!!',
  'correct horse battery staple',
  'Towpath-2026',
])('%p is common', (password) => expect(isCommonPassword(password)).toBe(true))

test.each([
  'correct staple horse',
  'my password is long',
  'a long password 1',
  'xkcd-936-tr0ub4dor',
  'ABBA gold 1992 vinyl',
  'Пароль для меня',
])('%p is not common', (password) => expect(isCommonPassword(password)).toBe(false))

test('accepts random passwords, and checks every text fast', async () => {
  const runs = atScale({ quick: 50, full: 500, soak: 500 })
  fc.assert(
    fc.property(fc.uuid(), (password) => !isCommonPassword(password)),
    { numRuns: runs },
  )
  const texts = fc.sample(fc.string({ unit: 'binary', maxLength: 128 }), runs)
  for (const text of [...texts, `${'ab'.repeat(63)}c`])
    expect(await measureProcessorMs(() => isCommonPassword(text))).toBeLessThan(2_000)
})
