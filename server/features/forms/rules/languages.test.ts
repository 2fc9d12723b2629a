import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { fillText, getTexts, LANGUAGES, translateError } from './languages.ts'

const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
/** Each text of a language by its path, such as `messages.required`. */
const listTexts = (language: string) =>
  Object.entries(getTexts(language)).flatMap(([group, texts]) =>
    Object.entries(texts).map(([key, text]) => [`${group}.${key}`, text] as const),
  )

test('the languages of docs/contract.md §13 are built in, one data file each', () => {
  expect(LANGUAGES).toEqual(['de', 'en', 'es', 'fr', 'nl', 'pt'])
  expect(readdirSync(`${import.meta.dirname}/languages`).sort()).toEqual(
    LANGUAGES.map((code) => `${code}.json`),
  )
})

describe.each(LANGUAGES)('%s', (language) => {
  test('has each text, no other text, and the same placeholders', () => {
    const shape = (code: string) => listTexts(code).map(([key, text]) => [key, placeholders(text)])
    expect(shape(language)).toEqual(shape('en'))
  })

  test('has no empty text, no markup, and no sentence in English', () => {
    const english = new Map(listTexts('en'))
    for (const [key, text] of listTexts(language)) {
      expect([key, text.trim()]).toEqual([key, text])
      expect(text).toMatch(/^[^<>]+$/)
      if (language !== 'en') expect([key, text]).not.toEqual([key, english.get(key) as string])
    }
  })
})

test('English has the messages of docs/contract.md §7 letter for letter', () => {
  expect(getTexts('en').messages).toMatchObject({
    required: 'This field is required',
    text: 'Must be a string',
    noUploads: 'File uploads are not supported',
    email: 'Enter a valid email address',
    captchaRequired: 'Captcha verification required',
    captchaFailed: 'Captcha verification failed',
  })
})

test('an unknown language has the English texts', () => {
  for (const language of [null, 'xx', '', '__proto__', 'constructor'])
    expect(getTexts(language)).toBe(getTexts('en'))
})

test('a placeholder without a value stays, and a value is no text with placeholders', () => {
  expect(fillText('{a} {b} {constructor} {a}', { a: '{b}', b: '$&' })).toBe('{b} $& {constructor} {b}')
})

test('an error that no text says stays as it is', () => {
  expect(translateError('Form is disabled', getTexts('de'))).toBe('Dieses Formular ist geschlossen')
  expect(translateError('Invalid JSON', getTexts('de'))).toBe('Invalid JSON')
})
