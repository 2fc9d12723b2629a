import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { LANGUAGES } from './languages.ts'
import { chooseLanguage, normalizeLocale, parseAcceptLanguage } from './sender-language.ts'

describe('Accept-Language', () => {
  test.each([
    ['', []],
    ['de', ['de']],
    ['de-CH, fr;q=0.8, *;q=0.1', ['de-CH', 'fr']],
    ['fr;q=0.2, de;q=0.9, nl', ['nl', 'de', 'fr']],
    ['fr;q=0.5,de;q=0.5', ['fr', 'de']],
    [' DE-ch ;  Q=1.000 ', ['de-CH']],
    ['de;q=0, fr', ['fr']],
    ['de;q=0.000,*', []],
    ['de;q=1.001, fr;q=2, nl;q=-1, pt;q=, es;q=0.1234', []],
    ['de;q=0.5;q=1, fr;level=1', []],
    ['d, toolonglanguage, de_DE, de--CH, 1x, <script>, zh-Hant-TW', ['zh-Hant-TW']],
    [',,,de,,', ['de']],
    ['*', []],
  ])('%p', (header, locales) => {
    expect(parseAcceptLanguage(header)).toEqual(locales)
  })

  test('of 8 KB is read to its bound only, and a range that is cut is not used', () => {
    expect(parseAcceptLanguage(`${'x;q=0.1,'.repeat(1_000)}de`)).toEqual([])
    expect(parseAcceptLanguage(`de,${' '.repeat(995)}fr-CA`)).toEqual(['de'])
    expect(parseAcceptLanguage(`nl${' '.repeat(8_000)}`)).toEqual([])
    expect(parseAcceptLanguage(Array(2_000).fill('de').join()).length).toBe(30)
  })

  test('of any text gives locales in their usual spelling, each of a range of the header', () => {
    const part = fc.oneof(
      fc.constantFrom('de', 'fr-CA', 'pt-BR', '*', 'zh-Hant', ''),
      fc.string({ unit: 'binary', maxLength: 10 }),
    )
    const weight = fc.oneof(
      fc.constantFrom('', ';q=0', ';q=0.5', ';q=1.000', ';q=9'),
      fc.string({ maxLength: 6 }),
    )
    const header = fc
      .array(fc.tuple(part, weight), { maxLength: 50 })
      .map((parts) => parts.map((p) => p.join('')).join())
    fc.assert(
      fc.property(fc.oneof(header, fc.string({ unit: 'binary' })), (text) => {
        const locales = parseAcceptLanguage(text)
        expect(locales.length).toBeLessThanOrEqual(30)
        for (const locale of locales) {
          expect(normalizeLocale(locale)).toBe(locale)
          expect(text.split(/[,;]/).map((range) => normalizeLocale(range.trim()))).toContain(locale)
        }
        const { builtIn, known } = chooseLanguage({ acceptLanguage: text })
        expect(LANGUAGES).toContain(builtIn)
        expect(known ?? 'en').toBe(builtIn)
      }),
      { numRuns: atScale({ full: 500, soak: 20_000 }) },
    )
  })

  test('of valid ranges is in the order of the weights', () => {
    const range = fc.record({
      locale: fc.constantFrom('de', 'fr', 'es', 'nl', 'pt', 'en'),
      weight: fc.integer({ min: 0, max: 1000 }),
    })
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), (ranges) => {
        const header = ranges
          .map(({ locale, weight }) => `${locale};q=${(weight / 1000).toFixed(3)}`)
          .join(', ')
        const wanted = ranges.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
        expect(parseAcceptLanguage(header)).toEqual(wanted.map(({ locale }) => locale))
      }),
      { numRuns: atScale({ full: 200, soak: 5_000 }) },
    )
  })
})

describe('the language of a sender', () => {
  const choose = (lang: string | undefined, acceptLanguage: string | null, own: string[] = []) =>
    chooseLanguage({ lang, acceptLanguage }, own)

  test.each([
    [undefined, null, null, 'en'],
    ['de', 'fr', 'de', 'de'],
    ['de_AT', 'fr', 'de', 'de'],
    [' DE ', null, 'de', 'de'],
    ['xx', 'fr', 'fr', 'fr'],
    ['<de>', 'nl-BE', 'nl', 'nl'],
    ['', 'it, ja, pt-BR;q=0.3', 'pt', 'pt'],
    [undefined, 'it, ja', null, 'en'],
    ['x'.repeat(65_536), 'es', 'es', 'es'],
  ])('_lang %p and Accept-Language %p', (lang, header, known, builtIn) => {
    expect(choose(lang?.slice(0, 70_000), header)).toEqual({ known, builtIn, own: [] })
  })

  test('is one of the form’s own, too, the closest locale first', () => {
    const own = ['de', 'de-CH', 'it', 'en']
    expect(choose('de-CH', null, own)).toEqual({ known: 'de', builtIn: 'de', own: ['de-CH', 'de'] })
    expect(choose('de-AT', null, own)).toEqual({ known: 'de', builtIn: 'de', own: ['de'] })
    expect(choose(undefined, 'it, de;q=0.5', own)).toEqual({ known: 'it', builtIn: 'en', own: ['it', 'en'] })
    expect(choose(undefined, 'ja', own)).toEqual({ known: null, builtIn: 'en', own: ['en'] })
    expect(choose('fr', null, own)).toEqual({ known: 'fr', builtIn: 'fr', own: [] })
  })
})
