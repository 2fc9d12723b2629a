import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../tests/support/suite.ts'
import { copyText, countCharacters, foldCase, isCleanText, normalizeUnicode } from './text.ts'

describe('matching without regard to case', () => {
  test.each([
    ['Spring', 'SPRING'],
    ['Größe', 'GRÖẞE'],
    ['café', 'CAFÉ'],
    ['ΟΔΟΣ', 'οδος'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['Привет', 'ПРИВЕТ'],
    ['ǰ', 'J̌'],
    ['Ḱ', 'Ḱ'],
  ])('%s is %s', (one, other) => {
    expect(foldCase(one)).toBe(foldCase(other))
  })

  test.each([
    ['a', 'ä'],
    ['resume', 'résumé'],
    ['o', '0'],
  ])('%s is not %s', (one, other) => {
    expect(foldCase(one)).not.toBe(foldCase(other))
  })

  test('composition and a second folding change nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(foldCase(text.normalize('NFD'))).toBe(foldCase(text.normalize('NFC')))
        expect(foldCase(foldCase(text))).toBe(foldCase(text))
      }),
      { numRuns: atScale({ quick: 30, full: 100, soak: 100 }) },
    )
  })

  test('a part of a text is a part of the folded text', () => {
    expect(foldCase('ΟΔΟΣΑΒ')).toContain(foldCase('ΟΔΟΣ'))
  })
})

describe('a normal form', () => {
  const FORMS = ['NFC', 'NFD', 'NFKC'] as const

  test('is that of Unicode for what people write, up to thirty marks on a letter', () => {
    const mark = fc.constantFrom('\u0301', '\u0316', '\u0327', '\u0344', '\u05b0', '\u064b', '\uff9e')
    const letter = fc.tuple(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
      fc.array(mark, { maxLength: 28 }),
    )
    fc.assert(
      fc.property(fc.array(letter), fc.constantFrom(...FORMS), (letters, form) => {
        const text = letters.map(([one, marks]) => one + marks.join('')).join('')
        expect(normalizeUnicode(text, form)).toBe(text.normalize(form))
      }),
    )
  })

  test('breaks a longer run of every character that is a mark in it', () => {
    // Beyond the second plane there are no marks but variation selectors, which stop nothing.
    const last = atScale({ quick: 0x1ffff, full: 0x10ffff, soak: 0x10ffff })
    for (let code = 0; code <= last; code++) {
      const character = String.fromCodePoint(code)
      const form = character.isWellFormed() ? character.normalize('NFKD') : ''
      // A mark of class 0 stops others from moving across it: these two stay in their order.
      const moves = `${form}\u0334`.normalize('NFD') !== `${form}\u0334`
      const isMark = /^\p{M}/u.test(form) && moves
      if (isMark) expect(normalizeUnicode(character.repeat(31), 'NFKC')).toContain('\u034f')
    }
  })
})

test('a character outside the basic plane counts once', () => {
  expect([countCharacters('abc'), countCharacters('𝒜🙂'), countCharacters('')]).toEqual([3, 2, 0])
})

test('NUL and half a surrogate pair are not clean', () => {
  expect(['a', '🙂', 'a\0', '\ud83d', '\ude42\ud83d'].map(isCleanText)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test.each(['', 'abc', 'ünï', '😀', 'a\ud800b'])('the copy of "%s" equals it', (text) => {
  expect(copyText(`${text}${text}`.slice(text.length))).toBe(text)
})
