import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { openGeo } from '../../storage/geo.ts'
import { createAgents, readAgent } from './agent.ts'
import { describeHit } from './describe.ts'
import { IPHONE, rawHit } from './raw-hit.fixture.ts'
import type { RawHit } from './raw-hit.ts'
import { createSaltBook } from './visitor.ts'

const salts = createSaltBook()
const describing = {
  geo: openGeo(),
  agentOf: createAgents(),
  saltOf: salts.of,
  ownHosts: new Set(['go.example.com', 'short.test']),
}
const described = (change: Partial<RawHit>) => describeHit(1, rawHit(change), describing)

describe('a described hit', () => {
  test('says where a person came from, with what, and by which campaign', () => {
    expect(
      described({
        referrer: 'https://user:pw@www.News.example:8443/a/b?token=1#frag',
        query: 'utm_source=short&utm_medium=qr&x=1',
        destinationQuery: 'utm_source=long&utm_campaign=spring%20sale',
      }),
    ).toMatchObject({
      class: 'human',
      country: 'US',
      continent: 'NA',
      region: null,
      device: 'Mobile',
      browser: 'Safari',
      os: 'iOS',
      referrer: 'news.example',
      referrerUrl: 'https://www.news.example:8443/a/b',
      utmSource: 'short',
      utmMedium: 'qr',
      utmCampaign: 'spring sale',
      utmTerm: null,
    })
  })

  test('is of the first class that fits: head, prefetch, bot, human', () => {
    expect(described({ head: true, prefetch: true, userAgent: 'curl/8' }).class).toBe('head')
    expect(described({ prefetch: true, userAgent: 'curl/8' }).class).toBe('prefetch')
    expect(described({ userAgent: 'curl/8' }).class).toBe('bot')
    expect(described({ userAgent: 'WhatsApp/2.23.20' }).class).toBe('bot')
    expect(described({ userAgent: ' ' }).class).toBe('bot')
    expect(described({}).class).toBe('human')
  })

  const direct = [
    '',
    'nonsense',
    'https://',
    'javascript:alert(1)',
    'https://go.example.com/x',
    'https://www.short.test/',
  ]
  for (const referrer of direct)
    test(`came directly when its referrer is "${referrer}"`, () =>
      expect(described({ referrer })).toMatchObject({ referrer: null, referrerUrl: null }))

  test('names an app that a link was opened from', () => {
    expect(described({ referrer: 'android-app://com.google.android.gm/' }).referrer).toBe(
      'com.google.android.gm',
    )
  })

  test('keeps an unknown slug, and none that a link answered', () => {
    expect(described({ linkId: 0, slug: 'typo' }).unknownSlug).toBe('typo')
    expect(described({ slug: 'known' }).unknownSlug).toBeNull()
  })

  test('never holds the address, a NUL or half a character, and every text has a bound', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.constantFrom('\0', '\ud800', '😀'.repeat(2000)),
    )
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const hit = described({
          address: '203.0.113.77',
          userAgent: a,
          referrer: `https://x.test/${b}`,
          query: `utm_source=${c}&utm_term=${encodeURIComponent(c.toWellFormed())}%00`,
          linkId: 0,
          slug: b,
        })
        const json = JSON.stringify(hit)
        expect(json).not.toContain('203.0.113.77')
        for (const value of Object.values(hit))
          if (typeof value === 'string') {
            expect(value.isWellFormed()).toBe(true)
            expect(value).not.toContain('\0')
            expect(value.length).toBeLessThanOrEqual(1024)
          }
      }),
      { numRuns: 200 },
    )
  })
})

describe('a visitor', () => {
  const of = (change: Partial<RawHit>) =>
    described({ at: Date.parse('2026-03-04T12:00:00Z'), ...change }).visitor
  test('is the same all day and another the next day, in another workspace, or elsewhere', () => {
    const visitor = of({})
    expect(visitor).toMatch(/^\d{1,20}$/)
    expect(BigInt(visitor)).toBeLessThan(2n ** 64n)
    expect(of({ at: Date.parse('2026-03-04T23:59:59Z') })).toBe(visitor)
    expect(of({ at: Date.parse('2026-03-05T00:00:00Z') })).not.toBe(visitor)
    expect(of({ workspaceId: 2 })).not.toBe(visitor)
    expect(of({ address: '8.8.4.4' })).not.toBe(visitor)
    expect(of({ userAgent: `${IPHONE} x` })).not.toBe(visitor)
  })
  test('does not depend on the process when the day’s salt is given', () => {
    const salt = [{ day: '2026-03-04', salt: '11'.repeat(32) }]
    const [one, other] = [createSaltBook(), createSaltBook()]
    one.set(salt)
    other.of(Date.parse('2026-03-04T01:00:00Z')) // made up before the salt came
    other.set(salt)
    expect(other.of(Date.parse('2026-03-04T02:00:00Z'))).toEqual(one.of(Date.parse('2026-03-04T03:00:00Z')))
  })
})

describe('a user agent', () => {
  const cases: [string, string | null, string | null, string | null][] = [
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0',
      'Desktop',
      'Edge',
      'Windows',
    ],
    [
      'Mozilla/5.0 (Linux; Android 13; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
      'Tablet',
      'Chrome',
      'Android',
    ],
    [
      'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
      'Desktop',
      'Chrome',
      'Chrome OS',
    ],
    [
      'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/2.2 Chrome/63.0 TV Safari/537.36',
      'TV',
      'Samsung Internet',
      'Tizen',
    ],
    [
      'Mozilla/5.0 (PlayStation; PlayStation 5/2.26) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15',
      'Console',
      'Safari',
      null,
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 300.0',
      'Mobile',
      'Instagram',
      'iOS',
    ],
  ]
  for (const [userAgent, device, browser, os] of cases)
    test(`is ${device}, ${browser}, ${os}`, () => {
      const agent = readAgent(userAgent)
      expect({ device: agent.device, browser: agent.browser, os: agent.os }).toEqual({ device, browser, os })
    })
  test('is remembered, but not without bound', () => {
    const agentOf = createAgents()
    const first = agentOf(IPHONE)
    for (let i = 0; i < 3000; i++) agentOf(`x${i}`)
    expect(agentOf(IPHONE)).toBe(first)
    for (let i = 0; i < 10_000; i++) agentOf(`y${i}`)
    expect(agentOf(IPHONE)).not.toBe(first)
  })
})
