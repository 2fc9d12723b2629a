import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { atScale, quick } from '../../../../tests/support/suite.ts'
import { createGeoLookup } from '../../../storage/geo.ts'
import { HIT_DIMENSIONS, type Hit } from '../../../storage/hits/hit.ts'
import { createDailySalts } from '../../visitors/salts.ts'
import { parseUserAgent } from '../../visitors/user-agent.ts'
import { createRawHit, IPHONE_USER_AGENT } from '../spool/raw-hit.fixture.ts'
import type { RawHit } from '../spool/raw-hit.ts'
import { createEnricher } from './enricher.ts'
import { createLineBuffer, LINE_MAX_BYTES } from './ndjson-line.ts'

const salts = createDailySalts()
const ownHosts = new Set(['go.example.com', 'short.test', 'localhost:3000'])
const describer = createEnricher({
  geo: createGeoLookup(),
  parseUserAgent,
  getSalt: salts.get,
  ownHosts: () => ownHosts,
})

/** The line of a hit. */
function lineOf(change: Partial<RawHit>, id = 1): string {
  const lines = createLineBuffer(64 * 1024)
  const hitClass = describer.enrich(id, createRawHit(change), lines)
  const line = Buffer.from(lines.bytes.subarray(0, lines.end)).toString()
  expect(line).toContain(`"class":"${hitClass}"`)
  return line
}

/** The hit as an engine reads it: a field that the line leaves out is null. */
const nothing = Object.fromEntries([...HIT_DIMENSIONS, 'unknownSlug'].map((name) => [name, null]))
const described = (change: Partial<RawHit>): Hit => ({ ...nothing, ...JSON.parse(lineOf(change)) })

describe('an enriched hit', () => {
  test('has the place, the device, the referrer and the campaign of a person', () => {
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

  test('has the first class that fits: head, prefetch, bot, human', () => {
    expect(described({ head: true, prefetch: true, userAgent: 'curl/8' }).class).toBe('head')
    expect(described({ prefetch: true, userAgent: 'curl/8' }).class).toBe('prefetch')
    expect(described({ userAgent: 'curl/8' }).class).toBe('bot')
    expect(described({ userAgent: 'WhatsApp/2.23.20' }).class).toBe('bot')
    expect(described({ userAgent: ' ' }).class).toBe('bot')
    expect(described({}).class).toBe('human')
  })

  test.each([
    ['', null, null],
    ['nonsense', null, null],
    ['https://', null, null],
    ['//protocol.relative/', null, null],
    ['javascript:alert(1)', null, null],
    ['data:text/html,x', null, null],
    ['about:blank', null, null],
    // Pages of this instance are no referrers.
    ['https://go.example.com/x', null, null],
    ['https://GO.Example.COM./x?y', null, null],
    ['https://www.short.test/', 'short.test', 'https://www.short.test/'],
    ['http://short.test:8080/x', null, null],
    ['https://short.test.:8443/x', null, null],
    ['http://localhost:3000/preview', null, null],
    ['http://localhost:5173/', 'localhost', 'http://localhost:5173/'],
    // Different spellings of one site are one referrer.
    ['https://www.google.com/', 'google.com', 'https://www.google.com/'],
    ['https://google.com', 'google.com', 'https://google.com/'],
    ['http://WWW.Google.com./search?q=secret', 'google.com', 'http://www.google.com./search'],
    ['https://www.com/', 'www.com', 'https://www.com/'],
    ['https://www2.example.org/', 'www2.example.org', 'https://www2.example.org/'],
    ['https://news.example:8443/a/b', 'news.example', 'https://news.example:8443/a/b'],
    // Queries, fragments and credentials may hold secrets.
    ['https://me:pw@mail.example/inbox?token=1#m2', 'mail.example', 'https://mail.example/inbox'],
    ['https://mail.example#token?x', 'mail.example', 'https://mail.example/'],
    ['https://mail.example?a#b', 'mail.example', 'https://mail.example/'],
    // Apps, other scripts, addresses.
    ['android-app://com.google.android.gm/', 'com.google.android.gm', 'android-app://com.google.android.gm/'],
    ['https://bücher.example/ä', 'xn--bcher-kva.example', 'https://xn--bcher-kva.example/%C3%A4'],
    ['http://[2001:db8::1]:8080/x', '[2001:db8::1]', 'http://[2001:db8::1]:8080/x'],
    ['https://a.example/\u202etxt\u0007exe', 'a.example', 'https://a.example/%E2%80%AEtxt%07exe'],
  ])('came from where "%s" says', (referrer, host, url) => {
    expect(described({ referrer })).toMatchObject({ referrer: host, referrerUrl: url })
  })

  test.each([
    ['https://0n-line.tv/x', 'spam'],
    ['https://www.sub.0n-line.tv/', 'spam'],
    ['https://not-0n-line.tv/', 'human'],
    ['https://tv/', 'human'],
    ['', 'human'],
  ])('with the referrer "%s" is %s', (referrer, hitClass) => {
    expect(described({ referrer }).class).toBe(hitClass as never)
  })

  const utm = (query: string, destinationQuery = '') => {
    const hit = described({ query, destinationQuery })
    return [hit.utmSource, hit.utmMedium, hit.utmCampaign, hit.utmTerm, hit.utmContent]
  }
  test.each([
    ['', '', [null, null, null, null, null]],
    ['utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e', '', ['a', 'b', 'c', 'd', 'e']],
    // Parameters that the short URL lacks come from the destination, one by one.
    ['utm_source=short', 'utm_source=long&utm_medium=email', ['short', 'email', null, null, null]],
    ['', 'ref=1&utm_source=long', ['long', null, null, null, null]],
    ['utm_source=&utm_medium', 'utm_source=long&utm_medium=email', ['long', 'email', null, null, null]],
    // The spellings of browsers and newsletters.
    ['fbclid=1&utm_source=a+b%20c&gclid=2', '', ['a b c', 'cpc', null, null, null]],
    // `ref` and click ids of the short URL fill what the parameters leave open.
    ['ref=Product+Hunt', '', ['Product Hunt', null, null, null, null]],
    ['ref=x&utm_source=y', '', ['y', null, null, null, null]],
    ['ref=x', 'utm_source=y', ['y', null, null, null, null]],
    ['xref=x&refs=y&ref=', '', [null, null, null, null, null]],
    ...['gclid', 'gbraid', 'wbraid', 'GCLID'].map(
      (name) => [`a=1&${name}=Cj0K`, '', ['google', 'cpc', null, null, null]] as const,
    ),
    ['msclkid=1', '', ['bing', 'cpc', null, null, null]],
    ['fbclid=1', '', ['facebook', 'cpc', null, null, null]],
    ['ttclid=1', '', ['tiktok', 'cpc', null, null, null]],
    ['ttclid=1&utm_medium=email', '', ['tiktok', 'email', null, null, null]],
    ['ref=news&gclid=1', '', ['news', 'cpc', null, null, null]],
    ['gclid=&xgclid=1', 'gclid=1', [null, null, null, null, null]],
    ['utm_campaign=fr%C3%BChling&utm_campaign=second', '', [null, null, 'frühling', null, null]],
    ['utm_source=100%&utm_term=%zz', '', ['100%', null, null, '%zz', null]],
    ['utm_source=a=b', '', ['a=b', null, null, null, null]],
    // Other parameters.
    ['xutm_source=no&x=utm_source&UTM_SOURCE=no&utm_id=7', '', [null, null, null, null, null]],
    ['a=1&&utm_source=x&', '', ['x', null, null, null, null]],
  ] as const)('belongs to the campaign of "%s" and "%s"', (query, destinationQuery, expected) => {
    expect(utm(query, destinationQuery)).toEqual([...expected])
  })

  test('has the variant of its link, or the slug of an earlier version where no link answered', () => {
    expect(described({ linkId: 0, variant: 'typo' })).toMatchObject({ unknownSlug: 'typo', variant: null })
    expect(described({ variant: 'B' })).toMatchObject({ unknownSlug: null, variant: 'B' })
  })

  quick('never holds the address, a NUL or half a character, and limits every text', () => {
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
          variant: b,
        })
        // Always one line.
        expect(lineOf({ userAgent: a, referrer: `https://x.test/${b}`, linkId: 0, variant: c })).toMatch(
          /^[^\n]+\n$/,
        )
        const json = JSON.stringify(hit)
        expect(json).not.toContain('203.0.113.77')
        for (const value of Object.values(hit))
          if (typeof value === 'string') {
            expect(value.isWellFormed()).toBe(true)
            expect(value).not.toContain('\0')
            expect(value.length).toBeLessThanOrEqual(1024)
          }
      }),
      { numRuns: atScale({ quick: 30, full: 200, soak: 2_000 }) },
    )
  })
})

describe('a visitor', () => {
  const of = (change: Partial<RawHit>) =>
    described({ at: Date.parse('2026-03-04T12:00:00Z'), ...change }).visitor
  test('has one id all day, and another the next day, in another workspace, or at another address', () => {
    const visitor = of({})
    expect(visitor).toMatch(/^\d{1,20}$/)
    expect(BigInt(visitor)).toBeLessThan(2n ** 64n)
    expect(of({ at: Date.parse('2026-03-04T23:59:59Z') })).toBe(visitor)
    expect(of({ at: Date.parse('2026-03-05T00:00:00Z') })).not.toBe(visitor)
    expect(of({ workspaceId: 2 })).not.toBe(visitor)
    expect(of({ address: '8.8.4.4' })).not.toBe(visitor)
    expect(of({ userAgent: `${IPHONE_USER_AGENT} x` })).not.toBe(visitor)
  })
  test('has the same id in every process that knows the day’s salt', () => {
    const salt = [{ day: '2026-03-04', salt: '11'.repeat(32) }]
    const [one, other] = [createDailySalts(), createDailySalts()]
    one.set(salt)
    other.get(Date.parse('2026-03-04T01:00:00Z')) // a substitute, before the salt is known
    other.set(salt)
    expect(other.get(Date.parse('2026-03-04T02:00:00Z'))).toEqual(one.get(Date.parse('2026-03-04T03:00:00Z')))
  })
})

test('never puts text of one hit into the line of another, however many hits come between', () => {
  const lines = [0, 1, 2].map((round) =>
    Array.from({ length: 300 }, (_, i) =>
      lineOf(
        { referrer: `https://r${i}.test/`, query: `utm_source=s${i}`, linkId: 1 + round, at: 1000 + i },
        7 + i,
      ),
    ),
  )
  for (const [round, each] of lines.entries())
    for (const [i, line] of each.entries())
      expect(JSON.parse(line)).toMatchObject({
        id: 7 + i,
        at: 1000 + i,
        linkId: 1 + round,
        referrer: `r${i}.test`,
        utmSource: `s${i}`,
      })
  describer.clearCaches()
  expect(described({ referrer: 'https://r1.test/' }).referrer).toBe('r1.test')
})

test('fits every text at its limit, with every character escaped, into one line', () => {
  const worst = '\u0001'
  const line = lineOf({
    referrer: `https://${'r'.repeat(240)}.test/${worst.repeat(2000)}`,
    query: ['source', 'medium', 'campaign', 'term', 'content']
      .map((name) => `utm_${name}=${worst.repeat(600)}`)
      .join('&'),
    linkId: 0,
    variant: worst.repeat(700),
  })
  expect(JSON.parse(line)).toMatchObject({ utmContent: worst.repeat(256), unknownSlug: worst.repeat(190) })
  expect(line.length).toBeLessThan(LINE_MAX_BYTES)
})
