import { describe, expect, test } from 'bun:test'
import { click, link, readExample } from '../read-example.fixture.ts'

const host = 'go.acme.test'
const forwardQuery = true
const ARCHIVED = 'redirects of an archived link: it answers 404 here'
const ROOT = 'This is the redirect of the root of a domain. Set it in the settings of the domain.'
const NO_SHORT_LINK = 'This is not a short link. Write it as https://go.example.com/slug.'
const NO_DATE = 'This date cannot be read. Write it as 2025-11-03 16:05:00.'

describe('links of Dub', () => {
  test('come from its CSV export', async () => {
    const { recognized, links } = await readExample('dub', 'links.csv')
    expect(recognized).toBe('dub links')
    expect(links).toEqual([
      link('https://shop.acme.test/sale?utm_source=mail&utm_campaign=spring,2025', {
        sourceKey: 'link_1JKZ0000000000000000000001',
        host,
        slug: 'spring',
        tags: ['Newsletter', 'Spring'],
        createdAt: '2025-02-01T09:30:00Z',
        forwardQuery,
        clicks: 1204,
        left: ['12 leads', '3 conversions', 'revenue of 149.9'],
      }),
      link('https://docs.acme.test/', {
        sourceKey: 'link_1JKZ0000000000000000000002',
        host,
        slug: 'Docs',
        createdAt: '2024-11-05T16:00:12.345Z',
        archived: true,
        forwardQuery,
        clicks: 8,
        left: [ARCHIVED],
      }),
      link('https://acme.test/b%C3%BCcher', {
        sourceKey: 'link_1JKZ0000000000000000000003',
        host: 'xn--bcher-kva.test',
        slug: 'Straße/lesen',
        tags: ['@team', "'quoted'"],
        createdAt: '2025-06-30T23:59:59.999Z',
        forwardQuery,
        clicks: 0,
      }),
      [{ field: 'Short link', value: 'https://go.acme.test', message: ROOT }],
      link('https://acme.test/again', {
        sourceKey: 'link_1JKZ0000000000000000000005',
        host,
        slug: 'spring',
        createdAt: '2025-02-02T00:00:00Z',
        forwardQuery,
        clicks: 1,
      }),
    ])
  })

  test('come from its CSV export of 2024', async () => {
    const { recognized, links } = await readExample('dub', 'links-2024.csv')
    expect(recognized).toBe('dub links')
    expect(links).toEqual([
      link('https://shop.acme.test/summer', {
        sourceKey: 'clx1a2b3c0001',
        host,
        slug: 'summer',
        tags: ['Print', 'Summer'],
        createdAt: '2024-07-12T08:00:00Z',
        forwardQuery,
        clicks: 45,
      }),
      link('https://acme.test/old', {
        sourceKey: 'clx1a2b3c0002',
        host,
        slug: 'old',
        createdAt: '2024-07-01T08:00:00Z',
        archived: true,
        forwardQuery,
        clicks: 3,
        left: [ARCHIVED],
      }),
    ])
  })

  test('come from its API with targets, card, password and expiry', async () => {
    const { recognized, links } = await readExample('dub', 'links.json')
    expect(recognized).toBe('dub links')
    expect(links).toEqual([
      link('https://acme.test/app?utm_source=qr', {
        sourceKey: 'link_1JKZ0000000000000000000011',
        host,
        slug: 'app',
        title: 'Get the app',
        comments: 'On every box since May.',
        tags: ['Print', 'Größe, XL'],
        createdAt: '2025-05-01T12:00:00Z',
        expiresAt: '2026-12-31T23:00:00Z',
        expiredUrl: 'https://acme.test/over',
        password: 'open sesame',
        geoTargeting: { DE: 'https://acme.test/de', FR: 'https://acme.test/fr' },
        deviceTargeting: {
          ios: 'https://apps.apple.com/app/id1',
          android: 'https://play.google.com/store/apps/details?id=test.acme',
        },
        forwardQuery,
        previewTitle: 'Get the app',
        previewDescription: 'It walks with you.',
        previewImage: 'https://cdn.acme.test/card.png',
        clicks: 3021,
        left: [
          '14 leads',
          '2 conversions',
          '2 sales',
          'revenue of 99.00',
          'conversion tracking',
          'public statistics',
          'the external id campaign-77',
          'the folder fold_1JP8',
          'the video of the card',
          'an A/B test of 2 destinations',
          'webhooks of the link',
        ],
      }),
      link('https://acme.test/', {
        sourceKey: 'link_1JKZ0000000000000000000012',
        host,
        slug: 'plain',
        title: 'Fetched from the page',
        createdAt: '2025-05-02T12:00:00Z',
        archived: true,
        forwardQuery,
        clicks: 0,
        left: [ARCHIVED, 'link cloaking', 'being shown to search engines'],
      }),
      link('https://acme.test/off', {
        sourceKey: 'link_1JKZ0000000000000000000013',
        host,
        slug: 'off',
        createdAt: '2025-05-03T12:00:00Z',
        archived: true,
        forwardQuery,
        clicks: 5,
        left: ['being disabled: it is archived here'],
      }),
      [{ field: 'key', value: 'https://go.acme.test', message: ROOT }],
    ])
  })

  test('that Dub would not write are refused by row, column and value', async () => {
    const { links } = await readExample('dub', 'hostile-links.csv')
    expect(links).toEqual([
      [{ field: 'Short link', value: null, message: NO_SHORT_LINK }],
      [{ field: 'Short link', value: 'not a link', message: NO_SHORT_LINK }],
      [
        {
          field: 'Destination URL',
          value: null,
          message: 'The destination is missing. Write the URL that the link leads to.',
        },
      ],
      [{ field: 'Created at', value: 'yesterday', message: NO_DATE }],
      [{ field: 'Clicks', value: 'many', message: 'This must be a whole number, 0 or more.' }],
      [{ field: 'Archived', value: 'perhaps', message: 'This must be true or false.' }],
      link('javascript:alert(1)', {
        host,
        slug: 'script',
        tags: ['=1+1'],
        createdAt: '2025-01-01T00:00:00Z',
        forwardQuery,
        clicks: 1,
      }),
      [{ field: 'Clicks', value: '-5', message: 'This must be a whole number, 0 or more.' }],
      // Nothing can store the character behind %00: the slug stays as it is written.
      link('https://acme.test/8', { host, slug: 'a%2Fb%00', forwardQuery }),
    ])
  })

  test('of other shapes than those of its API are refused', async () => {
    const { recognized, links } = await readExample('dub', 'hostile-links.json')
    expect(recognized).toBe('dub links')
    const fields = links.map((row) => (Array.isArray(row) ? row.map(({ field }) => field) : row))
    expect(fields).toEqual([
      ['archived', 'geo', 'clicks'],
      ['domain', 'key', 'id', 'url', 'createdAt'],
      ['tags', 'tags', 'geo', 'geo', 'geo'],
      ['key', 'url'],
    ])
  })
})

describe('clicks of Dub', () => {
  test('come from its CSV export of events, without those of the root of a domain', async () => {
    const { recognized, clicks } = await readExample('dub', 'events.csv')
    expect(recognized).toBe('dub clicks')
    expect(clicks).toEqual([
      click('2025-08-21T10:11:12Z', {
        host,
        slug: 'spring',
        referrer: 'https://mail.google.com/mail/u/0',
        country: 'Germany',
        region: 'DE-BE',
        city: 'Berlin',
        browser: 'Mobile Safari',
        os: 'iOS',
        device: 'Mobile',
        destinationUrl: 'https://shop.acme.test/sale?utm_source=mail',
      }),
      click('2025-08-21T10:11:13Z', {
        host,
        slug: 'spring',
        country: 'United States',
        region: 'US-CA',
        city: 'San Francisco',
        browser: 'Chrome',
        os: 'Mac OS',
        device: 'Desktop',
        trigger: 'qr',
        destinationUrl: 'https://shop.acme.test/sale',
      }),
      click('2025-08-21T10:11:14Z', { host, slug: 'Docs', device: 'Desktop' }),
      null,
    ])
  })

  test('come from its CSV export of 2024', async () => {
    const { recognized, clicks } = await readExample('dub', 'events-2024.csv')
    expect(recognized).toBe('dub clicks')
    const phone = { host, slug: 'summer', browser: 'Chrome', os: 'Android', device: 'Mobile' }
    expect(clicks).toEqual([
      click('2024-09-26T18:00:00Z', { ...phone, referrer: 't.co', country: 'Brazil', city: 'São Paulo' }),
      click('2024-09-26T18:00:01Z', { ...phone, country: 'Türkiye', city: 'Istanbul', trigger: 'qr' }),
    ])
  })

  test('come from its API, without leads', async () => {
    const { recognized, clicks } = await readExample('dub', 'events.json')
    expect(recognized).toBe('dub clicks')
    expect(clicks).toEqual([
      click('2025-08-21T10:11:12.345Z', {
        sourceKey: 'link_1JKZ0000000000000000000011',
        host,
        slug: 'app',
        userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15',
        country: 'DE',
        region: 'DE-BE',
        city: 'Berlin',
        browser: 'Mobile Safari',
        os: 'iOS',
        device: 'Mobile',
        trigger: 'qr',
        destinationUrl: 'https://acme.test/app?utm_source=qr',
      }),
      null,
    ])
  })

  test.each(['leads.csv', 'leads.json'])('are none in %s', async (name) => {
    expect(await readExample('dub', name)).toEqual({ recognized: 'dub clicks', links: [], clicks: [null] })
  })

  test('that Dub would not write are refused by row, column and value', async () => {
    const { clicks } = await readExample('dub', 'hostile-events.csv')
    expect(clicks).toEqual([
      [{ field: 'Date', value: '', message: 'The click has no time. Write it here.' }],
      [{ field: 'Date', value: 'never', message: NO_DATE }],
      [
        {
          field: 'Link',
          value: null,
          message: 'This is not a short link. Write it as go.example.com/slug.',
        },
      ],
      click('2025-08-21T10:11:12Z', { host, slug: 'a', country: 'Atlantis' }),
      [
        {
          field: 'Date',
          value: 'Fri Feb 31 2025 10:11:12 GMT+0000 (Coordinated Universal Time)',
          message: 'There is no such day or time. Correct it, or leave the cell empty.',
        },
      ],
    ])
  })
})
