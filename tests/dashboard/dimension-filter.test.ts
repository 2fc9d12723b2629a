import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  readFilter,
  toggleValue,
  writeFilter,
} from '../../dashboard/pages/analytics/view/dimension-filter.ts'

describe('the filters of the address', () => {
  test.each([
    ['US', ['US'], false],
    ['US,BR', ['US', 'BR'], false],
    ['-US,BR', ['US', 'BR'], true],
    ['-US,-BR', ['US', 'BR'], true],
    ['a\\,b,c', ['a,b', 'c'], false],
    ['\\-sale', ['-sale'], false],
    ['-\\-sale', ['-sale'], true],
    ['', [], false],
  ])('%p means what the API takes it for', (text, values, negate) => {
    expect(readFilter(text)).toEqual({ values, negate })
  })

  test('any values are written so that they are read again', () => {
    const values = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(values, fc.boolean(), (values, negate) => {
        expect(readFilter(writeFilter({ values, negate }) as string)).toEqual({ values, negate })
      }),
    )
  })

  test('no value, no filter', () => {
    expect(writeFilter({ values: [], negate: true })).toBeUndefined()
  })

  test('a value joins those of its kind, leaves when it is there, and never mixes with the opposite', () => {
    expect(toggleValue(undefined, 'US', false)).toEqual({ values: ['US'], negate: false })
    expect(toggleValue({ values: ['US'], negate: false }, 'BR', false).values).toEqual(['US', 'BR'])
    expect(toggleValue({ values: ['US', 'BR'], negate: false }, 'US', false).values).toEqual(['BR'])
    expect(toggleValue({ values: ['US'], negate: false }, 'BR', true)).toEqual({
      values: ['BR'],
      negate: true,
    })
  })
})
