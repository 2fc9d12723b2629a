import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { appendQuery, setParameters } from './url-query.ts'

const U = 'https://example.com/'

describe('setting parameters of a URL', () => {
  test.each([
    ['adds to no query', U, { a: '1' }, `${U}?a=1`],
    ['adds before the fragment', `${U}#top`, { a: '1' }, `${U}?a=1#top`],
    ['adds at the end', `${U}?b=2`, { a: '1' }, `${U}?b=2&a=1`],
    ['adds in order', U, { b: '2', a: '1' }, `${U}?b=2&a=1`],
    ['replaces in place', `${U}?a=0&b=2`, { a: '1' }, `${U}?a=1&b=2`],
    ['leaves one of several', `${U}?a=0&b=2&a=3`, { a: '1' }, `${U}?a=1&b=2`],
    ['encodes the value', U, { a: 'x y&z=#ä' }, `${U}?a=x+y%26z%3D%23%C3%A4`],
    ['takes out', `${U}?b=2&a=0&c=3&a`, { a: null }, `${U}?b=2&c=3`],
    ['takes out the last one with its question mark', `${U}?a=0#top`, { a: null }, `${U}#top`],
    ['takes out what is not there', `${U}?b=2`, { a: null }, `${U}?b=2`],
    ['knows an encoded name', `${U}?%61=0`, { a: null }, U],
    ['leaves what is not named', `${U}?b=2`, { a: undefined }, `${U}?b=2`],
    [
      'leaves the encoding of others',
      `${U}?q=a%20b+c&x=%7e%zz&y;&&?a=1&=`,
      { a: '1' },
      `${U}?q=a%20b+c&x=%7e%zz&y;&&?a=1&=&a=1`,
    ],
    ['leaves an empty query', `${U}?`, { a: null }, `${U}?`],
    ['fills an empty query', `${U}?`, { a: '1' }, `${U}?a=1`],
    ['is not misled by the fragment', `${U}#?a=0`, { a: '1' }, `${U}?a=1#?a=0`],
    ['works on deep links', 'myapp:open/thing?b=2', { a: '1' }, 'myapp:open/thing?b=2&a=1'],
  ])('%s', (_, href, parameters: Record<string, string | null | undefined>, expected) => {
    expect(setParameters(href, parameters)).toBe(expected)
  })

  test('a page reads what was set, and every other part stays as it was', () => {
    const other = fc.stringMatching(/^[b-z%+=?;]+$/)
    fc.assert(
      fc.property(fc.array(other), fc.string(), (others, value) => {
        const href = `${U}?${others.join('&')}`
        const changed = setParameters(href, { a: value })
        expect(new URL(changed).searchParams.getAll('a')).toEqual([value.toWellFormed()])
        expect(setParameters(changed, { a: null })).toBe(others.length > 0 ? href : U)
      }),
    )
  })
})

test('appends parameters after the query and before the fragment', () => {
  expect(appendQuery(`${U}?b=%20#top`, [['a', 'x y']])).toBe(`${U}?b=%20&a=x+y#top`)
  expect(appendQuery(`${U}?b&`, [['a', '1']])).toBe(`${U}?b&a=1`)
  expect(appendQuery(`${U}?q=really?`, [['a', '1']])).toBe(`${U}?q=really?&a=1`)
  expect(appendQuery(U, [])).toBe(U)
})
