import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { copyText, countCharacters, foldCase, isCleanText } from './text.ts'

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
    )
  })

  test('a part of a text is a part of the folded text', () => {
    expect(foldCase('ΟΔΟΣΑΒ')).toContain(foldCase('ΟΔΟΣ'))
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
