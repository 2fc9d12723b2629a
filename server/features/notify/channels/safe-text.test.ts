import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  fitFields,
  jsonLength,
  removeControlCharacters,
  toOneLine,
  truncateText,
  utf8Length,
} from './safe-text.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 400 })

describe('text is cut', () => {
  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['abc 👩 def', 6, 'abc…'],
    ['👩👩👩', 5, '👩👩…'],
    ['👩👩👩', 1, '…'],
    ['👩👩👩', 0, ''],
    ['', 0, ''],
  ])('%j to %i', (text, max, cut) => {
    expect(truncateText(text, max)).toBe(cut)
  })

  test('never above the limit, nor through a character', () => {
    fc.assert(
      fc.property(anyText, fc.nat(450), fc.constantFrom('…', '… (open in Towpath)'), (text, max, mark) => {
        for (const cost of [undefined, utf8Length, jsonLength]) {
          const cut = truncateText(text.toWellFormed(), max, mark, cost)
          const size = [...cut].reduce((sum, one) => sum + (cost?.(one) ?? one.length), 0)
          expect(size).toBeLessThanOrEqual(max)
          expect(cut.isWellFormed()).toBe(true)
        }
      }),
    )
  })

  test('counts the lengths of UTF-8 and of JSON', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = removeControlCharacters(text)
        const sum = (cost: (character: string) => number) =>
          [...shown].reduce((all, one) => all + cost(one), 0)
        expect(sum(utf8Length)).toBe(Buffer.byteLength(shown))
        expect(sum(jsonLength)).toBe(JSON.stringify(shown).length - 2)
      }),
    )
  })
})

describe('fields that do not fit', () => {
  const room = { fields: 10, name: 20, value: 1000, total: 600, each: 2 }
  const fit = (fields: [string, string][]) => fitFields(new Map(fields), room)

  test('long fields are cut, and short fields stay whole', () => {
    const { shown, omitted } = fit([
      ['essay', 'x'.repeat(9000)],
      ['email', 'ada@example.org'],
    ])
    expect(omitted).toBe(0)
    expect(shown[0]?.[1]).toMatch(/^x{400,}… \(open in Towpath\)$/)
    expect(shown[1]).toEqual(['email', 'ada@example.org'])
  })

  test('too many fields are counted', () => {
    const { shown, omitted } = fit(Array.from({ length: 300 }, (_, i) => [`f${i}`, `value ${i}`]))
    expect(shown.length + omitted).toBe(300)
    expect(shown.at(0)).toEqual(['f0', 'value 0'])
  })

  test('keep their order and stay below the limits', () => {
    const fields = fc.uniqueArray(fc.tuple(anyText, anyText), { selector: ([name]) => name, maxLength: 30 })
    const sizes = fc.record({
      fields: fc.integer({ min: 1, max: 30 }),
      name: fc.integer({ min: 1, max: 100 }),
      value: fc.integer({ min: 30, max: 2000 }),
      total: fc.nat(3000),
      each: fc.nat(100),
    })
    fc.assert(
      fc.property(fields, sizes, (fields, room) => {
        const { shown, omitted } = fitFields(new Map(fields), room)
        const size = shown.reduce((sum, [name, value]) => sum + name.length + value.length + room.each, 0)
        expect(size).toBeLessThanOrEqual(room.total)
        expect(shown.length).toBeLessThanOrEqual(room.fields)
        expect(shown.length + omitted).toBe(fields.length)
        shown.forEach(([name, value], i) => {
          expect(name.length).toBeLessThanOrEqual(room.name)
          expect(value.length).toBeLessThanOrEqual(room.value)
          expect(name.trim() && value.trim()).not.toBe('')
          const asked = toOneLine(fields[i]?.[0] ?? '') || '–'
          expect(asked.startsWith(name.replace(/…$/, ''))).toBe(true)
        })
      }),
    )
  })
})

test.each([
  ['a\r\nb\rc\vd\fe\x85f\u2028g', 'a\nb\nc\nd\ne\nf\ng'],
  ['\0\x07\x1b[31m\x9b', '[31m'],
  ['\u202eabc\u202c \u2067def\u2069', 'abc def'],
  ['\ud800x', '\ufffdx'],
  ['שלום\u200f!', 'שלום\u200f!'],
])('%j becomes inert as %j', (text, shown) => {
  expect(removeControlCharacters(text)).toBe(shown)
})
