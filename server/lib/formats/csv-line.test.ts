import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fromReversibleCell, toInertCell, toReversibleCell } from './csv-line.ts'

const oddText = fc
  .array(fc.constantFrom("'", '=', '+', '-', '@', '＝', '\t', '\r', '\n', ' ', '"', 'a', '1', ','), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''))

describe('cells of a file that is imported again', () => {
  test('come back as they were', () => {
    fc.assert(
      fc.property(fc.oneof(oddText, fc.string({ unit: 'binary' })), (text) => {
        expect(fromReversibleCell(toReversibleCell(text))).toBe(text)
      }),
    )
  })

  test('are no formulas for a spreadsheet', () => {
    fc.assert(
      fc.property(oddText, (text) => {
        const cell = toReversibleCell(text)
        expect(toInertCell(cell)).toBe(cell)
      }),
    )
  })

  test.each([
    ['=1+1', "'=1+1"],
    ["'=1+1", "''=1+1"],
    ["it's = 1", "it's = 1"],
    ['a\n-b', "a\n'-b"],
  ])('%j is written as %j', (text, cell) => {
    expect(toReversibleCell(text)).toBe(cell)
  })
})
