import { describe, expect, test } from 'bun:test'
import { link, readExample } from './read-example.fixture.ts'
import { LOST_PASSWORD } from './source-link.ts'

const MISSING = 'The destination is missing. Write the URL that the link leads to.'

describe('links of Rebrandly', () => {
  test('come from its API, with the names of their tags', async () => {
    const { recognized, links } = await readExample('rebrandly', 'links.json')
    expect(recognized).toBe('rebrandly links')
    expect(links).toEqual([
      link('https://www.example.com/2016/07/spider?a=1&b=2', {
        sourceKey: 'ffs24cc5b6ee4a5gh7897b06ac2d16d4',
        host: 'rebrand.ly',
        slug: 'burn10M',
        title: 'The Supercar | WIRED',
        tags: ['cars', 'Été'],
        createdAt: '2016-07-13T10:54:12Z',
        forwardQuery: true,
        clicks: 42,
      }),
      link('https://www.example.com/myvid', {
        sourceKey: '22ff9c5c9c9441229d29524c63c9ff22',
        host: 'go.acme.example',
        slug: 'café/☕',
        createdAt: '2016-07-06T18:06:49Z',
        expiresAt: '2027-01-01T00:00:00Z',
      }),
      [
        { field: 'domain', value: 'no domain', message: 'This is not a domain. Write it as go.example.' },
        {
          field: 'createdAt',
          value: 'soon',
          message: 'This date cannot be read. Write it as 2025-11-03 16:05:00.',
        },
        { field: 'clicks', value: '-1', message: 'This must be a whole number, 0 or more.' },
      ],
    ])
  })

  test('come from a table', async () => {
    const { recognized, links } = await readExample('rebrandly', 'links.csv')
    expect(recognized).toBe('rebrandly links')
    expect(links).toEqual([
      link('https://www.example.com/spider', {
        host: 'go.acme.example',
        slug: 'burn10M',
        title: 'Spider',
        tags: ['cars', 'Été'],
        createdAt: '2016-07-13T10:54:00Z',
        clicks: 42,
      }),
    ])
  })
})

describe('links of Short.io', () => {
  test('come from pages of its API: without the root of a domain, and protected ones archived', async () => {
    const { recognized, links } = await readExample('short.io', 'links.ndjson')
    expect(recognized).toBe('short.io links')
    expect(links).toEqual([
      link('https://example.com', {
        sourceKey: 'lnk_61Ct_Lhhz',
        host: 'acme.short.example',
        slug: 'locked',
        title: 'Locked',
        tags: ['a', 'b'],
        createdAt: '2025-07-16T07:22:54.897Z',
        archived: true,
        left: [LOST_PASSWORD],
      }),
      link('https://example.com/app', {
        sourceKey: 'lnk_2',
        host: 'acme.short.example',
        slug: 'App/🎉',
        createdAt: '2022-06-19T10:41:23.708Z',
        archived: true,
        expiresAt: '2027-01-01T00:00:00Z',
        expiredUrl: 'https://example.com/over',
        clickLimit: 100,
        deviceTargeting: { ios: 'https://apps.example/ios', android: 'https://apps.example/android' },
        redirectStatus: 307,
        clicks: 17,
        left: ['cloaking', 'a split test with https://example.com/b'],
      }),
      null,
    ])
  })

  test('come from a table', async () => {
    const { recognized, links } = await readExample('short.io', 'links.csv')
    expect(recognized).toBe('short.io links')
    expect(links).toEqual([
      link('https://example.com/1', {
        host: 'acme.short.example',
        slug: 'one',
        title: 'One',
        tags: ['a', 'b'],
        createdAt: '2022-06-19T10:41:23.708Z',
        password: 's3cret',
      }),
    ])
  })
})

describe('links of Sink', () => {
  test('come from its export, with countries, devices and cards', async () => {
    const { recognized, links } = await readExample('sink', 'export.json')
    expect(recognized).toBe('sink links')
    expect(links).toEqual([
      link('https://example.com/spring', {
        sourceKey: 'a1b2c3d4e5',
        slug: 'spring',
        title: 'Spring',
        comments: 'for the fair',
        tags: ['fair', '2026'],
        createdAt: '2025-11-03T16:05:06Z',
        expiresAt: '2027-01-01T00:00:00Z',
        geoTargeting: { DE: 'https://example.de', AT: 'https://example.at' },
        deviceTargeting: { ios: 'https://apps.example/ios', android: 'https://apps.example/android' },
        forwardQuery: true,
        previewTitle: 'Spring',
        previewDescription: 'All that is new',
        previewImage: 'https://example.com/card.png',
      }),
      link('https://example.com/secret', {
        sourceKey: 'f6g7h8i9j0',
        slug: 'secret',
        createdAt: '2025-11-03T16:05:06Z',
        archived: true,
        left: [
          'cloaking',
          'a warning page before the redirect',
          'the picture of the card, which is on the old server',
          LOST_PASSWORD,
        ],
      }),
      link('https://example.com/open', {
        sourceKey: 'k1',
        slug: '🚀',
        createdAt: '2025-11-03T16:05:06Z',
        password: 'in clear',
      }),
    ])
  })

  test('have every value named that is none', async () => {
    const { links } = await readExample('sink', 'hostile.json')
    const problems = links.map((row) =>
      Array.isArray(row) ? row.map(({ field, value }) => [field, value]) : row,
    )
    expect(problems).toEqual([
      [
        ['createdAt', '4102444799000000'],
        ['geo', '{"Germany":"https://example.de"}'],
      ],
      [
        ['title', 'half �'],
        ['url', 'https://example.com/�'],
      ],
      [['url', null]],
    ])
    expect(links.at(-1)).toEqual([{ field: 'url', value: null, message: MISSING }])
  })
})
