import { expect, test } from 'bun:test'
import { isOriginAllowed } from './allowed-origins.ts'

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
])('with a list: %s', (_, { origin, referer }, allowed) => {
  const headers = new Headers()
  if (origin !== undefined) headers.set('origin', origin)
  if (referer !== undefined) headers.set('referer', referer)
  expect(isOriginAllowed(list, headers)).toBe(allowed)
  expect(isOriginAllowed([], headers)).toBe(true)
})
