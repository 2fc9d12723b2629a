import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { errorTarget, successTarget } from './redirect-target.ts'

const origin = 'https://go.example'
const page = 'https://site.example/contact'

describe('after a success the browser goes to', () => {
  test.each<[string, { next?: string; redirectUrl?: string; referer?: string }, string]>([
    [
      '_next first',
      { next: 'https://a.example/x', redirectUrl: 'https://b.example/', referer: page },
      'https://a.example/x',
    ],
    ["the form's own page next", { redirectUrl: 'https://b.example/', referer: page }, 'https://b.example/'],
    ['where the visitor was', { referer: page }, page],
    ['our thanks where nothing is known', {}, 'https://go.example/thanks'],
    [
      'a _next that is relative to the page',
      { next: '/thanks?ok=1', referer: page },
      'https://site.example/thanks?ok=1',
    ],
    ['a _next that is only a query', { next: '?sent', referer: `${page}?_errors=%7B%7D` }, `${page}?sent`],
    [
      'a _next that is only a fragment, without old errors',
      { next: '#sent', referer: `${page}?_errors=1` },
      `${page}#sent`,
    ],
    [
      'another host without a scheme',
      { next: '//other.example/y', referer: page },
      'https://other.example/y',
    ],
    ['not to a relative _next from nowhere', { next: '/thanks' }, 'https://go.example/thanks'],
    ['not to a blank _next', { next: '  ', referer: page }, page],
    ['not to a script', { next: 'javascript:alert(1)', referer: page }, page],
    ['not to a script with a tab in it', { next: 'java\tscript:alert(1)', referer: page }, page],
    ['not to data', { next: 'data:text/html,x', redirectUrl: 'https://b.example/' }, 'https://b.example/'],
    ['not to an address with a password', { next: 'https://u:p@evil.example/', referer: page }, page],
    ['not to an address with a user', { next: 'https://u@evil.example/', referer: page }, page],
    ['not to endless addresses', { next: `https://a.example/${'x'.repeat(9000)}`, referer: page }, page],
    [
      'not to a Referer with a password',
      { referer: 'https://u:p@site.example/' },
      'https://go.example/thanks',
    ],
    ['not to an app', { referer: 'android-app://com.mail/' }, 'https://go.example/thanks'],
    [
      'not to the endpoint, which nobody can open',
      { referer: 'https://go.example/f/abc' },
      'https://go.example/thanks',
    ],
    [
      'a page of the site that we share an origin with',
      { referer: 'https://go.example/contact' },
      'https://go.example/contact',
    ],
    ['a Referer without old errors', { referer: `${page}?a=1&_errors=old&b=x%20y` }, `${page}?a=1&b=x%20y`],
    ['a Referer without old errors, however written', { referer: `${page}?%5Ferrors=old&_errors` }, page],
  ])('%s', (_, { next, redirectUrl = null, referer = '' }, target) => {
    expect(successTarget({ next, redirectUrl: redirectUrl ?? null, nextHosts: [], referer, origin })).toBe(
      target,
    )
  })
})

test('for any input, the target is a web URL that is safe in a header', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl({ withQueryParameters: true }),
    fc.constantFrom('\r\nSet-Cookie: a=b', '\\\\evil', 'http:a', 'https:\\evil.example', '///x'),
  )
  const property = fc.property(text, text, text, (next, redirectUrl, referer) => {
    const target = successTarget({ next, redirectUrl, nextHosts: [], referer, origin })
    expect(target).toMatch(/^https?:\/\/[!-~]+$/)
    expect(URL.parse(target)?.username).toBe('')
    const back = errorTarget({ referer, origin }, new Map([[next, redirectUrl]]))
    if (back !== undefined) expect(back).toMatch(/^https?:\/\/[!-~]+$/)
  })
  fc.assert(property, { numRuns: 2_000 })
})

describe('after an error the browser goes back to the form with the errors', () => {
  const errors = new Map([['email', 'Enter a valid email address']])
  const read = (url: string | undefined) =>
    JSON.parse(new URL(url as string).searchParams.get('_errors') as string)

  test.each([
    [page, `${page}?_errors=`],
    [`${page}?a=1&b=x%20y`, `${page}?a=1&b=x%20y&_errors=`],
    [`${page}?_errors=old&a=1&_errors=older`, `${page}?a=1&_errors=`],
    ['https://site.example/', 'https://site.example/?_errors='],
  ])('to %s', (referer, start) => {
    const target = errorTarget({ referer, origin }, errors)
    expect(target).toStartWith(start)
    expect(read(target)).toEqual({ email: 'Enter a valid email address' })
    expect(new URL(target as string).searchParams.getAll('_errors')).toHaveLength(1)
  })

  test('within the limit: whole messages are left out', () => {
    const many = new Map(Array.from({ length: 300 }, (_, i) => [`field ${i}`, 'This field is required']))
    const target = errorTarget({ referer: page, origin }, many)
    expect((target as string).length - page.length).toBeLessThan(2_050)
    expect(Object.keys(read(target)).length).toBeGreaterThan(20)
    const endless = new Map([
      ['😀'.repeat(256), 'Must be a string'],
      ['a', 'Must be a string'],
    ])
    expect(read(errorTarget({ referer: page, origin }, endless))).toEqual({ a: 'Must be a string' })
  })

  test('for any field name', () => {
    const names = new Map([
      ['__proto__', 'a'],
      ['&=#"', 'b'],
      ['\ud800', 'c'],
    ])
    expect(
      Object.entries(read(errorTarget({ referer: page, origin }, names))).map(([, message]) => message),
    ).toEqual(['a', 'b', 'c'])
  })

  test.each(['', 'about:client', 'javascript:1', 'https://go.example/f/abc?x', 'not a url'])(
    'not at all where the Referer names no page (%p)',
    (referer) => {
      expect(errorTarget({ referer, origin }, errors)).toBeUndefined()
    },
  )
})
