import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isOriginAllowed } from './allowed-origins.ts'
import { normalizeOrigin } from './normalize-origin.ts'

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
  ])('%p is none', (text) => {
    expect(normalizeOrigin(text)).toBeUndefined()
  })

  test('once stored, lets pass the pages it names and no others', () => {
    const from = (origin: string) => new Headers({ Origin: origin })
    const exact = normalizeOrigin('https://Example.com:443/') as string
    const below = normalizeOrigin('https://*.example.com') as string
    expect(isOriginAllowed([exact], from('https://example.com'))).toBe(true)
    expect(isOriginAllowed([exact], from('https://example.com.evil.example'))).toBe(false)
    expect(isOriginAllowed([below], from('https://shop.example.com'))).toBe(true)
    expect(isOriginAllowed([below], from('https://evilexample.com'))).toBe(false)
  })

  test('is the same whoever normalises it again, for any text', () => {
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
      { numRuns: 2000 },
    )
  })
})
