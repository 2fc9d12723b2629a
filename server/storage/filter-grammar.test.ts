import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readClasses, readFilter } from './filter-grammar.ts'

describe('a filter', () => {
  test.each([
    ['US', ['US'], false],
    ['us', ['US'], false],
    ['US,BR', ['US', 'BR'], false],
    ['-US,BR', ['US', 'BR'], true],
    ['-US,-BR', ['US', 'BR'], true],
    ['Unknown', [null, 'Unknown'], false],
    ['-Unknown,US', [null, 'Unknown', 'US'], true],
    ['US,US', ['US'], false],
    ['uk', ['GB'], false],
    ['-UK,GB,xx', ['GB', 'XX'], true],
  ])('country=%s', (text, values, negate) => {
    expect(readFilter('country', [text])).toEqual({ values, negate })
  })

  test('that is repeated means any of the values', () => {
    expect(readFilter('city', ['Rome', 'Bonn,Oslo'])).toEqual({
      values: ['Rome', 'Bonn', 'Oslo'],
      negate: false,
    })
    expect(readFilter('city', ['-Rome', '-Bonn'])).toEqual({ values: ['Rome', 'Bonn'], negate: true })
  })

  test.each([
    ['a\\,b', ['a,b']],
    ['a\\,b,c', ['a,b', 'c']],
    ['\\-a', ['-a']],
    ['a,\\-b', ['a', '-b']],
    ['a\\\\,b', ['a\\', 'b']],
    ['a\\b', ['a\\b']],
    ['a\\', ['a\\']],
    ['a-b', ['a-b']],
  ])('escapes: %s', (text, values) => {
    expect(readFilter('utmCampaign', [text])).toEqual({ values, negate: false })
  })

  test.each([['a,-b'], ['-a|b'], ['']])('refuses %p as ambiguous or empty', (text) => {
    expect(readFilter('city', text.split('|'))).toBeString()
  })
  test.each([',', 'a,', ',a', 'a,,b', '-', '-,a'])('%p has an empty value', (text) => {
    expect(readFilter('city', [text])).toBe('must not be empty')
  })

  test('turns values into their stored form', () => {
    expect(readFilter('domain', ['Go.Example.COM'])).toEqual({ values: ['go.example.com'], negate: false })
    expect(readFilter('slug', ['Cafe\u0301'])).toEqual({ values: ['Cafe\u0301'], negate: false })
    expect(readFilter('referrer', ['www.News.example,(direct)'])).toEqual({
      values: ['news.example', null, '(direct)'],
      negate: false,
    })
    expect(readFilter('trigger', ['QR'])).toEqual({ values: ['qr'], negate: false })
    expect(readFilter('linkId', ['12,7'])).toEqual({ values: [12, 7], negate: false })
  })

  test('refuses invalid ids and triggers', () => {
    for (const text of ['abc', '1.5', '1,x', '99999999999999999999', ' 1'])
      expect(readFilter('linkId', [text])).toBeString()
    expect(readFilter('trigger', ['nfc'])).toBeString()
  })

  test('reads every escaped value back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, unit: fc.constantFrom('a', ',', '\\', '-', 'é') }), {
          minLength: 1,
        }),
        fc.boolean(),
        (texts, negate) => {
          const written = texts.map((text) => text.replace(/[\\,-]/g, '\\$&')).join(',')
          expect(readFilter('utmTerm', [`${negate ? '-' : ''}${written}`])).toEqual({
            values: [...new Set(texts)],
            negate,
          })
        },
      ),
    )
  })

  test('throws for no input', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (written) => void readFilter('city', written)),
    )
  })
})

test('classes', () => {
  expect(readClasses(['human'])).toEqual(['human'])
  expect(readClasses(['bot,head'])).toEqual(['bot', 'head'])
  expect(readClasses(['-bot'])).toEqual(['human', 'prefetch', 'head', 'spam', 'internal'])
  expect(readClasses(['all'])).toEqual(['human', 'bot', 'prefetch', 'head', 'spam', 'internal'])
  expect(readClasses(['robot'])).toBeString()
})
