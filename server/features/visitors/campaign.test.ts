import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../tests/support/suite.ts'
import { type Campaign, cutUtmParameters, parseCampaign } from './campaign.ts'

const NAMES = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content']
const LONGEST = NAMES.map((name) => `${name}=`).join('&').length + 5 * 256

describe('the utm parameters that are recorded', () => {
  test('have no other parameter of the query, and at most 256 characters a value', () => {
    const query = `fbclid=${'f'.repeat(300)}&utm_source=${'s'.repeat(3000)}&x=1&utm_medium=email&utm_made_up=${'z'.repeat(500)}`
    expect(cutUtmParameters(query)).toBe(`utm_source=${'s'.repeat(256)}&utm_medium=email&fbclid=1`)
    const all = NAMES.map((name) => `${name}=${'v'.repeat(4000)}`).join('&')
    expect(cutUtmParameters(`${all}&${all}`)).toHaveLength(LONGEST)
  })

  test.each([
    ['é', 2],
    ['中', 3],
    ['😀', 4],
  ])('keep 256 units of "%s", encoded or not', (letter, bytes) => {
    const value = letter.repeat(1000)
    const kept = letter.repeat(256 / letter.length)
    for (const sent of [value, encodeURIComponent(value)]) {
      const cut = cutUtmParameters(`utm_source=${sent}`)
      expect(parseCampaign(cut).utmSource).toBe(kept)
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(11 + 256 * bytes)
    }
  })

  test('are read as the whole query is, each value cut', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 600 }),
      fc.constantFrom('', 'a+b', '%', '%zz', '100%25', 'a%26b'),
      fc.constantFrom('x'.repeat(300), '%F0%9F%98%80'.repeat(200), '+'.repeat(400)),
    )
    const part = fc.tuple(fc.constantFrom(...NAMES, 'utm_x', 'ref'), value, fc.boolean())
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const query = parts
          .map(
            ([name, text, encode]) =>
              `${name}=${encode ? encodeURIComponent(text.toWellFormed()) : text.replaceAll('&', '')}`,
          )
          .join('&')
          .replaceAll('\n', '')
        const cut = cutUtmParameters(query)
        const of = (text: string): Campaign => parseCampaign(text)
        expect(of(cut)).toEqual(of(query))
      }),
      { numRuns: atScale({ quick: 60, full: 300, soak: 300 }) },
    )
  })
})
