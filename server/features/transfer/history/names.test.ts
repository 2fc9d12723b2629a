import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { CONTINENTS } from '../../../storage/continents.ts'
import { toClientNames } from './client-names.ts'
import { findCountryCode } from './country-code.ts'

describe('a country is found', () => {
  const display = new Intl.DisplayNames('en', { type: 'region' })
  test.each([...CONTINENTS.keys()])('%s by its code and its English name', (code) => {
    expect(findCountryCode(code)).toBe(code)
    expect(findCountryCode(code.toLowerCase())).toBe(code)
    expect(findCountryCode(display.of(code) ?? '')).toBe(code)
  })

  test.each([
    ['United States of America', 'US'],
    ['Republic of Korea', 'KR'],
    ['Türkiye', 'TR'],
    ['Turkey', 'TR'],
    ["Côte d'Ivoire", 'CI'],
    ['CZECH REPUBLIC', 'CZ'],
    ['Viet  Nam', 'VN'],
    ['Bosnia & Herzegovina', 'BA'],
    ['Unknown', null],
    ['', null],
    [null, null],
  ])('%p is %p', (name, code) => expect(findCountryCode(name)).toBe(code))

  test('and no text throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void findCountryCode(text)))
  })
})

test.each([
  [{ browser: 'Mobile Safari', os: 'iPhone OS 17', device: 'phone' }, ['Safari', 'iOS', 'Mobile']],
  [{ browser: 'Microsoft Edge', os: 'Windows 10', device: 'PC' }, ['Edge', 'Windows', 'Desktop']],
  [{ browser: 'Vivaldi', os: 'Haiku', device: 'fridge' }, ['Vivaldi', 'Other', 'Other']],
  [{ browser: 'Others', os: 'Unknown', device: null }, [null, null, null]],
])('%p has our names', (named, names) => {
  const { browser, os, device } = toClientNames(named)
  expect([browser, os, device]).toEqual(names as never)
})
