import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { errorTarget, successTarget } from './redirect-target.ts'

const origin = 'https://go.example'
const page = 'https://site.example/contact'
const FORM = {
  formKey: 'k7m2xw9qpd',
  nextHosts: [],
  afterSubmit: 'referer' as 'referer' | 'hosted',
  pageUrl: null as string | null,
  origin,
}
const THANKS = `${origin}/f/${FORM.formKey}/thanks`

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
    expect(successTarget({ ...FORM, next, redirectUrl: redirectUrl ?? null, referer })).toBe(target)
  })
})

describe('a form that knows its page', () => {
  const known = { ...FORM, pageUrl: `${page}#form`, next: undefined, redirectUrl: null }
  const errors = new Map([['email', 'Enter a valid email address']])

  test.each([
    ['https://site.example/', `${page}#form`],
    ['https://site.example', `${page}#form`],
    // The rest are no bare origin of the page's site: the Referer says where the visitor was.
    ['https://site.example/?a=1', 'https://site.example/?a=1'],
    ['https://site.example/other', 'https://site.example/other'],
    ['http://site.example/', 'http://site.example/'],
    ['https://www.site.example/', 'https://www.site.example/'],
    ['https://site.example:8443/', 'https://site.example:8443/'],
    ['https://evil.example/', 'https://evil.example/'],
    ['', `${origin}/thanks`],
    ['about:client', `${origin}/thanks`],
  ])('is returned to from the Referer %p at %s', (referer, target) => {
    expect(successTarget({ ...known, referer })).toBe(target)
    const back = errorTarget({ ...known, referer }, errors)
    if (target === `${origin}/thanks`) expect(back).toBeUndefined()
    else expect(back?.replace(/[?&]_errors=[^#]*/, '')).toBe(target)
  })

  test('resolves a relative _next against it', () => {
    const referer = 'https://site.example/'
    expect(successTarget({ ...known, referer, next: '?sent' })).toBe(`${page}?sent`)
  })

  test('has an unusable page ignored', () => {
    const referer = 'https://site.example/'
    for (const pageUrl of ['javascript:alert(1)', 'https://u:p@site.example/x', 'nothing']) {
      expect(successTarget({ ...known, pageUrl, referer })).toBe(referer)
    }
  })
})

test('with afterSubmit hosted, its own thanks page follows _next and redirectUrl', () => {
  const hosted = {
    ...FORM,
    afterSubmit: 'hosted' as const,
    redirectUrl: null,
    next: undefined,
    referer: page,
  }
  expect(successTarget(hosted)).toBe(THANKS)
  expect(successTarget({ ...hosted, referer: '' })).toBe(THANKS)
  expect(successTarget({ ...hosted, next: 'javascript:1' })).toBe(THANKS)
  expect(successTarget({ ...hosted, next: '/ok' })).toBe('https://site.example/ok')
  expect(successTarget({ ...hosted, redirectUrl: 'https://b.example/' })).toBe('https://b.example/')
})

test('for any input, the target is a web URL that is safe in a header', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl({ withQueryParameters: true }),
    fc.constantFrom('\r\nSet-Cookie: a=b', '\\\\evil', 'http:a', 'https:\\evil.example', '///x'),
  )
  const property = fc.property(text, text, text, (next, redirectUrl, referer) => {
    const target = successTarget({ ...FORM, pageUrl: redirectUrl, next, redirectUrl, referer })
    expect(target).toMatch(/^https?:\/\/[!-~]+$/)
    expect(URL.parse(target)?.username).toBe('')
    const back = errorTarget({ referer, origin, pageUrl: null }, new Map([[next, redirectUrl]]))
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
    const target = errorTarget({ referer, origin, pageUrl: null }, errors)
    expect(target).toStartWith(start)
    expect(read(target)).toEqual({ email: 'Enter a valid email address' })
    expect(new URL(target as string).searchParams.getAll('_errors')).toHaveLength(1)
  })

  test('within the limit: whole messages are left out', () => {
    const many = new Map(Array.from({ length: 300 }, (_, i) => [`field ${i}`, 'This field is required']))
    const target = errorTarget({ referer: page, origin, pageUrl: null }, many)
    expect((target as string).length - page.length).toBeLessThan(2_050)
    expect(Object.keys(read(target)).length).toBeGreaterThan(20)
    const endless = new Map([
      ['😀'.repeat(256), 'Must be a string'],
      ['a', 'Must be a string'],
    ])
    expect(read(errorTarget({ referer: page, origin, pageUrl: null }, endless))).toEqual({
      a: 'Must be a string',
    })
  })

  test.each([
    [1_975, ['a']],
    [1_976, []],
  ])('with a message of %i letters, which fills the limit or passes it by one', (letters, fields) => {
    const target = errorTarget(
      { referer: page, origin, pageUrl: null },
      new Map([['a', 'x'.repeat(letters)]]),
    )
    expect(Object.keys(read(target))).toEqual(fields)
  })

  test('for any field name', () => {
    const names = new Map([
      ['__proto__', 'a'],
      ['&=#"', 'b'],
      ['\ud800', 'c'],
    ])
    expect(
      Object.entries(read(errorTarget({ referer: page, origin, pageUrl: null }, names))).map(
        ([, message]) => message,
      ),
    ).toEqual(['a', 'b', 'c'])
  })

  test.each(['', 'about:client', 'javascript:1', 'https://go.example/f/abc?x', 'not a url'])(
    'not at all where the Referer names no page (%p)',
    (referer) => {
      expect(errorTarget({ referer, origin, pageUrl: null }, errors)).toBeUndefined()
    },
  )
})
