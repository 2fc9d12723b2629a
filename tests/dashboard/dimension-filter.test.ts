// The grammar of analytics filters: reading, writing and toggling values.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  readFilter,
  toggleValue,
  writeFilter,
} from '../../dashboard/pages/analytics/view/dimension-filter.ts'

describe('a filter in the address', () => {
  test.each([
    ['US', ['US'], false],
    ['US,BR', ['US', 'BR'], false],
    ['-US,BR', ['US', 'BR'], true],
    ['-US,-BR', ['US', 'BR'], true],
    ['a\\,b,c', ['a,b', 'c'], false],
    ['\\-sale', ['-sale'], false],
    ['-\\-sale', ['-sale'], true],
    ['', [], false],
  ])('%p is read like the API reads it', (text, values, negate) => {
    expect(readFilter(text)).toEqual({ values, negate })
  })

  test('is written so that reading gives the same values', () => {
    const values = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(values, fc.boolean(), (values, negate) => {
        expect(readFilter(writeFilter({ values, negate }) as string)).toEqual({ values, negate })
      }),
    )
  })

  test('is removed when it has no values', () => {
    expect(writeFilter({ values: [], negate: true })).toBeUndefined()
  })

  test('gets a new value, loses a value that it has, and starts anew when "is" changes to "is not"', () => {
    expect(toggleValue(undefined, 'US', false)).toEqual({ values: ['US'], negate: false })
    expect(toggleValue({ values: ['US'], negate: false }, 'BR', false).values).toEqual(['US', 'BR'])
    expect(toggleValue({ values: ['US', 'BR'], negate: false }, 'US', false).values).toEqual(['BR'])
    expect(toggleValue({ values: ['US'], negate: false }, 'BR', true)).toEqual({
      values: ['BR'],
      negate: true,
    })
  })
})
