import { describe, expect, test } from 'bun:test'
import { click, link, readExample, UTC } from '../read-example.fixture.ts'
import { toLink } from '../read-record.ts'
import { shlink } from './shlink.ts'

const host = 's.acme.test'
const forwardQuery = true
const NO_SHORT_URL =
  'Shlink did not record the short URL of this visit: it does since version 4.1. Export visits by its API, and add shortUrl to each.'

describe('short URLs of Shlink', () => {
  test('come from the CSV of its web client, codes that differ in case too', async () => {
    const { recognized, links } = await readExample('shlink', 'short_urls.csv')
    expect(recognized).toBe('shlink links')
    expect(links).toEqual([
      link('https://store.acme.test/?a=1,2', {
        host,
        slug: '12C18',
        title: 'Welcome, friend',
        tags: ['games', 'tech'],
        createdAt: '2023-05-01T08:00:00Z',
        forwardQuery,
        clicks: 328,
      }),
      link('https://store.acme.test/lower', {
        host,
        slug: '12c18',
        createdAt: '2023-05-02T08:00:00Z',
        forwardQuery,
        clicks: 0,
      }),
      link('https://acme.test/menu', {
        host,
        slug: 'café/menü',
        tags: ['food'],
        createdAt: '2023-05-03T08:00:00Z',
        forwardQuery,
        clicks: 1029,
      }),
    ])
  })

  test('come from the CSV of 2022, which has no code and no domain', async () => {
    const { recognized, links } = await readExample('shlink', 'short_urls-2022.csv')
    expect(recognized).toBe('shlink links')
    expect(links).toEqual([
      link('https://acme.test/', {
        host,
        slug: 'abc12',
        title: 'Start',
        tags: ['one', 'two'],
        createdAt: '2022-03-13T08:00:00Z',
        forwardQuery,
        clicks: 12,
      }),
    ])
  })

  test('come from its API with validity and limit, and without the visits of bots', async () => {
    const { recognized, links } = await readExample('shlink', 'short-urls.json')
    expect(recognized).toBe('shlink links')
    expect(links).toEqual([
      link('https://store.acme.test/', {
        host,
        slug: '12C18',
        title: 'Welcome',
        tags: ['games', 'tech'],
        createdAt: '2016-08-21T18:34:16Z',
        startsAt: '2017-01-20T22:00:00Z',
        expiresAt: '2027-01-20T22:00:00Z',
        clickLimit: 100,
        forwardQuery,
        clicks: 300,
        left: ['redirect rules, which are not in this file', 'being shown to search engines'],
      }),
      link('https://acme.test/', {
        host: 'example.acme.test',
        slug: '123bA',
        createdAt: '2015-10-01T18:34:16Z',
        clicks: 0,
      }),
    ])
  })

  test('keep redirect rules in their order, and name those that have no place here', async () => {
    const { recognized, links } = await readExample('shlink', 'short-urls-with-rules.ndjson')
    expect(recognized).toBe('shlink links')
    expect(links).toEqual([
      link('https://acme.test/', {
        host,
        slug: 'rules',
        createdAt: '2025-01-01T00:00:00Z',
        rules: [
          { when: { os: ['android'] }, to: 'https://acme.test/android' },
          { when: { os: ['ios', 'android'] }, to: 'https://acme.test/mobile' },
          { when: { country: ['DE'] }, to: 'https://acme.test/de' },
          { when: { device: ['desktop'], query: { ref: 'ad' } }, to: 'https://acme.test/ad' },
          { when: { os: ['macos'] }, to: 'https://acme.test/mac' },
          { when: { device: ['desktop'] }, to: 'https://acme.test/desktop' },
        ],
        forwardQuery,
        clicks: 9,
        left: ['a redirect rule (language en-US) to https://acme.test/en'],
      }),
      link('https://acme.test/', {
        host,
        slug: 'order',
        createdAt: '2025-01-01T00:00:00Z',
        rules: [
          { when: { country: ['FR'] }, to: 'https://acme.test/fr' },
          { when: { os: ['ios'] }, to: 'https://acme.test/ios' },
        ],
        forwardQuery,
        clicks: 0,
      }),
    ])
  })

  const rule = (...conditions: [type: string, matchKey: string | null, matchValue: string | null][]) => ({
    longUrl: 'https://acme.test/x',
    priority: 1,
    conditions: conditions.map(([type, matchKey, matchValue]) => ({ type, matchKey, matchValue })),
  })
  const readRules = (redirectRules: unknown) => {
    const fields = new Map(Object.entries({ shortCode: 'a', longUrl: 'https://acme.test/', redirectRules }))
    return toLink(shlink, { row: 1, table: null, fields }, UTC) as {
      value: { rules: unknown; left: string[] }
    }
  }

  test.each<[when: object | null, ...conditions: Parameters<typeof rule>]>([
    [{ language: ['de'] }, ['language', null, 'DE']],
    [null, ['language', null, 'de-AT']],
    [null, ['language', null, 'de'], ['language', null, 'fr']],
    [
      { os: ['ios'], device: ['desktop'] },
      ['device', null, 'mobile'],
      ['device', null, 'ios'],
      ['device', null, 'desktop'],
    ],
    [null, ['device', null, 'ios'], ['device', null, 'android']],
    [null, ['device', null, 'toaster']],
    [
      { query: { a: '1', b: '*', c: '' } },
      ['query-param', 'a', '1'],
      ['any-value-query-param', 'b', null],
      ['valueless-query-param', 'c', null],
    ],
    [null, ['query-param', 'a', '1'], ['query-param', 'a', '2']],
    [null, ['query-param', 'a', '*']],
    [null, ['query-param', '__proto__', 'x']],
    [null, ['query-param', 'a', 'x'.repeat(257)]],
    [
      { country: ['GB'], language: ['en'] },
      ['geolocation-country-code', null, 'gb'],
      ['language', null, 'en'],
    ],
    [null, ['geolocation-city-name', null, 'Berlin'], ['language', null, 'en']],
    [null, ['ip-address', null, '10.0.0.*']],
    [{ before: '2027-01-01T00:00:00.000Z' }, ['before-date', null, '2027-01-01T01:00:00+01:00']],
    [null, ['after-date', null, 'soon']],
    [null],
  ])('have a rule of conditions, or name it: %j', (when, ...conditions) => {
    const { rules, left } = readRules([rule(...conditions)]).value
    expect(rules).toEqual(when && [{ when, to: 'https://acme.test/x' }])
    expect(left).toHaveLength(when ? 0 : 1)
  })

  test('have twenty rules at most', () => {
    const { rules, left } = readRules(Array.from({ length: 23 }, () => rule(['language', null, 'de']))).value
    expect([(rules as unknown[]).length, left.length]).toEqual([20, 3])
  })

  test('name a rule in few words, whatever stands in it', () => {
    const condition = { type: 'language', matchKey: null, matchValue: 'e\ud800' }
    const redirectRules = [
      { longUrl: `https://acme.test/${'x'.repeat(5000)}`, priority: 1, conditions: [condition] },
    ]
    const fields = new Map(Object.entries({ shortCode: 'a', longUrl: 'https://acme.test/', redirectRules }))
    const reading = toLink(shlink, { row: 1, table: null, fields }, UTC)
    const left = [
      `a redirect rule (language) to https://acme.test/${'x'.repeat(200)}`.slice(0, 199).concat('…'),
    ]
    expect(reading).toMatchObject({ value: { left } })
  })

  test('come from older APIs', async () => {
    const newer = await readExample('shlink', 'short-urls-v3.5.json')
    expect(newer.recognized).toBe('shlink links')
    expect(newer.links).toEqual([
      link('https://acme.test/app', {
        host,
        slug: 'app',
        tags: ['app'],
        createdAt: '2023-01-31T23:00:00Z',
        deviceTargeting: { android: 'https://acme.test/android', ios: 'https://acme.test/ios' },
        forwardQuery,
        clicks: 5,
      }),
    ])
    const oldest = await readExample('shlink', 'short-urls-v1.json')
    expect(oldest.recognized).toBe('shlink links')
    expect(oldest.links).toEqual([
      link('https://acme.test/2016', {
        slug: '1a2',
        createdAt: '2016-07-15T07:00:00Z',
        forwardQuery,
        clicks: 3,
      }),
    ])
  })

  test('of other shapes than those of its API are refused', async () => {
    const { recognized, links } = await readExample('shlink', 'hostile-short-urls.json')
    expect(recognized).toBe('shlink links')
    const fields = links.map((row) => (Array.isArray(row) ? row.map(({ field }) => field) : row))
    expect(fields).toEqual([
      ['shortCode'],
      ['longUrl'],
      ['meta', 'visitsSummary', 'redirectRules', 'shortUrl', 'domain', 'tags', 'dateCreated'],
      ['redirectRules', 'redirectRules', 'redirectRules', 'tags', 'meta.validUntil', 'meta.maxVisits'],
      ['longUrl'],
    ])
  })
})

describe('visits of Shlink', () => {
  const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0'
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)'

  test('come from the CSV of its web client', async () => {
    const { recognized, clicks } = await readExample('shlink', 'visits.csv')
    expect(recognized).toBe('shlink clicks')
    expect(clicks).toEqual([
      click('2025-08-20T01:05:03Z', {
        host,
        slug: '12C18',
        userAgent: firefox,
        referrer: 't.co',
        country: 'Spain',
        region: 'Catalonia',
        city: 'Barcelona',
        browser: 'Firefox',
        os: 'Windows',
        visitedUrl: 'https://s.acme.test/12C18?utm_source=x&utm_medium=social',
      }),
      click('2025-08-20T01:05:04Z', {
        host,
        slug: '12C18',
        userAgent: 'some_web_crawler/1.4',
        bot: true,
        visitedUrl: 'https://s.acme.test/12C18',
      }),
      click('2025-08-20T01:05:05Z', {
        host,
        slug: 'café/menü',
        userAgent:
          'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
        browser: 'Safari',
        os: 'macOS',
        visitedUrl: 'https://s.acme.test/caf%C3%A9/men%C3%BC?qr=1',
      }),
    ])
  })

  test('come from the CSV of its command line, without those of no short URL', async () => {
    const { recognized, clicks } = await readExample('shlink', 'visits-cli.csv')
    expect(recognized).toBe('shlink clicks')
    expect(clicks).toEqual([
      click('2026-01-10T12:00:00Z', {
        host,
        slug: '12C18',
        userAgent: `${chrome} Chrome/131.0 Safari/537.36`,
        referrer: 'https://news.acme.test/today',
        country: 'United States',
        region: 'California',
        city: 'Cupertino',
        visitedUrl: 'https://s.acme.test/12C18?utm_source=cli',
        destinationUrl: 'https://store.acme.test/?utm_source=cli',
      }),
      click('2026-01-10T12:00:01Z', {
        host,
        slug: '12C18',
        userAgent: 'some_web_crawler/1.4',
        bot: true,
        visitedUrl: 'https://s.acme.test/12C18',
        destinationUrl: 'https://store.acme.test/',
      }),
      null,
      [{ field: 'Visited URL', value: null, message: NO_SHORT_URL }],
    ])
  })

  test('come from its API', async () => {
    const { recognized, clicks } = await readExample('shlink', 'visits.json')
    expect(recognized).toBe('shlink clicks')
    expect(clicks).toEqual([
      click('2024-08-20T01:05:03Z', {
        host,
        slug: '12C18',
        userAgent: `${chrome} Chrome/126.0 Safari/537.36`,
        referrer: 'https://t.co/abc',
        country: 'US',
        region: 'California',
        city: 'Cupertino',
        visitedUrl: 'https://s.acme.test/12C18?utm_source=x',
        destinationUrl: 'https://store.acme.test/?utm_source=x',
      }),
      click('2024-08-20T01:05:04Z', {
        host,
        slug: '12C18',
        userAgent: 'some_web_crawler/1.4',
        bot: true,
        visitedUrl: 'https://s.acme.test/12C18',
      }),
      [{ field: 'visitedUrl', value: null, message: NO_SHORT_URL }],
    ])
  })

  test('from before version 4.1 belong to the short URL that was added to them', async () => {
    const { recognized, clicks } = await readExample('shlink', 'visits-with-short-url.ndjson')
    expect(recognized).toBe('shlink clicks')
    expect(clicks).toEqual([
      click('2020-08-20T01:05:04Z', { host, slug: '12C18', userAgent: 'curl/7.0' }),
      click('2024-08-20T01:05:03Z', {
        host,
        slug: '12C18',
        userAgent: 'curl/8.0',
        referrer: 'https://t.co/abc',
        country: 'AT',
        region: 'Wien',
        city: 'Wien',
        visitedUrl: 'https://s.acme.test/base/12C18?x=1',
        destinationUrl: 'https://store.acme.test/?x=1',
      }),
    ])
    expect(await readExample('shlink', 'visits-2021.csv')).toEqual({
      recognized: 'shlink clicks',
      links: [],
      clicks: [[{ field: 'visitedUrl', value: null, message: NO_SHORT_URL }]],
    })
  })

  test('of no short URL are no clicks', async () => {
    expect(await readExample('shlink', 'orphan_visits.csv')).toEqual({
      recognized: 'shlink clicks',
      links: [],
      clicks: [null, null],
    })
  })
})
