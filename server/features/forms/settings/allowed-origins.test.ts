import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale } from '../../../../tests/support/suite.ts'
import { normalizeOrigin } from '../../../lib/normalize-origin.ts'
import { isHostAllowed, isOriginAllowed } from './allowed-origins.ts'

describe('an allowed origin', () => {
  test.each([
    ['https://example.com', 'https://example.com'],
    ['HTTPS://Example.COM:443/', 'https://example.com'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    ['http://192.168.0.7', 'http://192.168.0.7'],
    ['https://müller.example', 'https://xn--mller-kva.example'],
    ['https://*.example.com', 'https://*.example.com'],
    ['https://*.Example.com:8443', 'https://*.example.com:8443'],
  ])('%s is stored as %s', (text, stored) => {
    expect(normalizeOrigin(text)).toBe(stored)
    expect(normalizeOrigin(stored)).toBe(stored)
  })

  test.each([
    '',
    '*',
    'null',
    'example.com',
    '//example.com',
    'ftp://example.com',
    'file:///etc',
    'https://',
    'https://*',
    'https://*.com',
    'https://*.1.2.3.4',
    'https://*.*.example.com',
    'https://a.*.example.com',
    'https://exa*mple.com',
    'https://user@example.com',
    'https://user:password@example.com',
    'https://example.com/path',
    'https://example.com?a=1',
    'https://example.com#a',
    'https://example.com\\@evil.example',
    'https:\\\\example.com',
    'https://exa mple.com',
    ' https://example.com',
    'https://example.com\n',
    'https://example.com:99999',
    'javascript:alert(1)',
  ])('%p is rejected', (text) => {
    expect(normalizeOrigin(text)).toBeUndefined()
  })

  test('allows the pages that it names and no others', () => {
    const from = (origin: string) => new Headers({ Origin: origin })
    const exact = normalizeOrigin('https://Example.com:443/') as string
    const below = normalizeOrigin('https://*.example.com') as string
    expect(isOriginAllowed([exact], from('https://example.com'))).toBe(true)
    expect(isOriginAllowed([exact], from('https://example.com.evil.example'))).toBe(false)
    expect(isOriginAllowed([below], from('https://shop.example.com'))).toBe(true)
    expect(isOriginAllowed([below], from('https://evilexample.com'))).toBe(false)
  })

  test('does not change when it is normalized again, for any text', () => {
    const text = fc.oneof(
      fc.webUrl(),
      fc.string(),
      fc.webAuthority().map((host) => `https://*.${host}`),
    )
    fc.assert(
      fc.property(text, (given) => {
        const stored = normalizeOrigin(given)
        if (stored !== undefined) expect(normalizeOrigin(stored)).toBe(stored)
      }),
      { numRuns: atScale({ quick: 500, full: 2_000, soak: 20_000 }) },
    )
  })
})

const list = [
  'https://site.example',
  'https://*.shop.example',
  'http://localhost:3000',
  'https://xn--mnchen-3ya.example',
]

test.each<[string, { origin?: string; referer?: string }, boolean]>([
  ['the origin itself', { origin: 'https://site.example' }, true],
  ['the origin with its usual port', { origin: 'https://site.example:443' }, true],
  ['another port', { origin: 'https://site.example:8443' }, false],
  ['another scheme', { origin: 'http://site.example' }, false],
  ['a host that begins alike', { origin: 'https://site.example.evil.example' }, false],
  ['a host that ends alike', { origin: 'https://evilsite.example' }, false],
  ['a host below a wildcard', { origin: 'https://a.shop.example' }, true],
  ['a host far below a wildcard', { origin: 'https://a.b.shop.example' }, true],
  ['the host of the wildcard itself', { origin: 'https://shop.example' }, false],
  ['a host that ends like a wildcard', { origin: 'https://badshop.example' }, false],
  ['a port that the list names', { origin: 'http://localhost:3000' }, true],
  ['an international name', { origin: 'https://xn--mnchen-3ya.example' }, true],
  ['no Origin, but a Referer', { referer: 'https://site.example/contact?x' }, true],
  ['Origin null, but a Referer', { origin: 'null', referer: 'https://site.example/' }, true],
  [
    'a wrong Origin, whatever the Referer',
    { origin: 'https://evil.example', referer: 'https://site.example/' },
    false,
  ],
  ['a wrong Referer', { referer: 'https://evil.example/https://site.example' }, false],
  ['a Referer with the origin as its user', { referer: 'https://site.example@evil.example/' }, false],
  ['nothing', {}, false],
  ['null and nothing', { origin: 'null' }, false],
  ['nonsense', { origin: 'site.example' }, false],
])('a list of origins and a request with %s', (_, { origin, referer }, allowed) => {
  const headers = new Headers()
  if (origin !== undefined) headers.set('origin', origin)
  if (referer !== undefined) headers.set('referer', referer)
  expect(isOriginAllowed(list, headers)).toBe(allowed)
  expect(isOriginAllowed([], headers)).toBe(true)
})

test.each<[string, string, boolean]>([
  ['a host that the list names', 'site.example', true],
  ['a host below a wildcard', 'a.shop.example', true],
  ['the host of the wildcard itself', 'shop.example', false],
  ['a host of the list with a port', 'localhost', true],
  ['another host', 'evil.example', false],
])('a list of origins and a captcha token from %s', (_, hostname, allowed) => {
  expect(isHostAllowed(list, hostname)).toBe(allowed)
  expect(isHostAllowed([], hostname)).toBe(true)
})
