import { describe, expect, test } from 'bun:test'
import { click, link, readExample, UTC } from './read-example.fixture.ts'

const NO_KEYWORD = 'The link has no keyword. Write it here.'

describe('YOURLS', () => {
  test('brings links and clicks in one mysqldump', async () => {
    expect(await readExample('yourls', 'mysqldump.sql')).toEqual({
      recognized: 'yourls both',
      links: [
        link('https://acme.test/a?b=1&c=%E0%A4%B5', {
          slug: 'AuIq',
          title: 'वेब होस्टिंग | Acme',
          createdAt: '2024-12-01T20:36:18Z',
          clicks: 9,
        }),
        link('https://acme.test/lower', { slug: 'auiq', createdAt: '2024-12-02T20:36:18Z', clicks: 1 }),
        link('https://acme.test/?say="hi"&back=\\', {
          slug: "it's",
          title: "YOURLS' Blog",
          createdAt: '2024-12-03T20:36:18Z',
          clicks: 0,
        }),
        link('https://acme.test/zero', { slug: 'zero', clicks: 2 }),
      ],
      clicks: [
        click('2024-12-10T15:36:52Z', {
          slug: 'AuIq',
          userAgent:
            'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
          referrer: "https://acme.test/admin/?q=it's",
          country: 'IN',
        }),
        click('2024-12-10T18:48:05Z', {
          slug: 'auiq',
          address: '2001:db8::1',
          userAgent: 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
        }),
        click('2024-12-10T18:55:56Z', { slug: 'AuIq', userAgent: '-', country: 'DE' }),
        click('2024-12-11T00:00:00Z', { slug: 'gone', userAgent: 'curl/8.0' }),
      ],
    })
  })

  test('brings links and clicks in one dump of SQLite, where a backslash escapes nothing', async () => {
    expect(await readExample('yourls', 'sqlite-dump.sql')).toEqual({
      recognized: 'yourls both',
      links: [
        link('https://acme.test/a?b=1', {
          slug: 'AuIq',
          title: 'C:\\temp\\',
          createdAt: '2024-12-01T20:36:18Z',
          clicks: 9,
        }),
        link('https://acme.test/?say="hi"', {
          slug: "it's",
          title: 'Two\nlines',
          createdAt: '2024-12-03T20:36:18Z',
          clicks: 0,
        }),
        link('https://acme.test/none', { slug: 'none', createdAt: '2024-12-04T20:36:18Z', clicks: 1 }),
      ],
      clicks: [
        click('2024-12-10T15:36:52Z', {
          slug: 'AuIq',
          userAgent: 'curl/8.0 \\',
          address: '192.0.2.1',
          country: 'IN',
        }),
      ],
    })
  })

  test('brings links and clicks in one dump of phpMyAdmin, with any prefix, in the zone of its server', async () => {
    const rows = await readExample('yourls', 'phpmyadmin.sql', { ...UTC, timeZone: 'Europe/Moscow' })
    expect(rows).toEqual({
      recognized: 'yourls both',
      links: [
        link('https://ozh.acme.test/', {
          slug: 'ozh',
          title: 'ozh',
          createdAt: '2019-02-22T06:00:00Z',
          clicks: 5,
        }),
        link('https://acme.test/a-b', {
          slug: 'a-b',
          title: "YOURLS' own; really",
          createdAt: '2019-02-23T06:00:00Z',
          clicks: 0,
        }),
      ],
      clicks: [
        click('2019-02-22T07:18:58Z', {
          slug: 'ozh',
          userAgent:
            'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/72.0.3626.109 Safari/537.36',
          country: 'RU',
        }),
        click('2019-02-22T07:21:57Z', {
          slug: 'ozh',
          address: '203.0.113.0',
          userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 12_0 like Mac OS X)',
          referrer: 'http://news.acme.test/',
        }),
      ],
    })
  })

  test('brings links and clicks in one JSON file of phpMyAdmin', async () => {
    expect(await readExample('yourls', 'phpmyadmin.json')).toEqual({
      recognized: 'yourls both',
      links: [
        null,
        null,
        null,
        null,
        link('https://ozh.acme.test/', {
          slug: 'ozh',
          title: 'ozh',
          createdAt: '2019-02-22T09:00:00Z',
          clicks: 5,
        }),
      ],
      clicks: [
        null,
        null,
        click('2019-02-22T10:18:58Z', {
          slug: 'ozh',
          userAgent: 'curl/7.0',
          country: 'RU',
        }),
        null,
        null,
      ],
    })
  })

  test('brings links of 2009, which have no title', async () => {
    expect(await readExample('yourls', 'old-1.4.sql')).toEqual({
      recognized: 'yourls links',
      links: [link('http://acme.test/one', { slug: '1', createdAt: '2009-09-02T12:00:00Z', clicks: 42 })],
      clicks: [],
    })
  })

  test('brings its tables as CSV', async () => {
    expect(await readExample('yourls', 'url.csv')).toEqual({
      recognized: 'yourls links',
      links: [
        link('https://acme.test/a', {
          slug: 'AuIq',
          title: 'A "quoted" title',
          createdAt: '2024-12-01T20:36:18Z',
          clicks: 9,
        }),
        link('https://acme.test/lower', { slug: 'auiq', createdAt: '2024-12-02T20:36:18Z', clicks: 1 }),
      ],
      clicks: [],
    })
    expect(await readExample('yourls', 'log.csv')).toEqual({
      recognized: 'yourls clicks',
      links: [],
      clicks: [
        click('2024-12-10T15:36:52Z', {
          slug: 'AuIq',
          userAgent: 'curl/8.0',
          country: 'IN',
        }),
      ],
    })
  })

  test('brings links of its API, with their host', async () => {
    const host = 'sho.acme.test'
    expect(await readExample('yourls', 'stats.json')).toEqual({
      recognized: 'yourls links',
      links: [
        link('https://acme.test/a', {
          host,
          slug: 'AuIq',
          title: 'A title',
          createdAt: '2024-12-01T20:36:18Z',
          clicks: 9,
        }),
        link('https://acme.test/lower', { host, slug: 'auiq', createdAt: '2024-12-02T20:36:18Z', clicks: 1 }),
      ],
      clicks: [],
    })
  })

  test('brings links of its plugins', async () => {
    expect(await readExample('yourls', 'shlink-list.json')).toEqual({
      recognized: 'yourls links',
      links: [
        link('https://acme.test/a', {
          slug: 'AuIq',
          title: 'A title',
          createdAt: '2024-12-01T20:36:18Z',
          clicks: 9,
        }),
      ],
      clicks: [],
    })
    expect(await readExample('yourls', 'import-export.csv')).toEqual({
      recognized: 'yourls links',
      links: [
        link('https://acme.test/a', { slug: 'AuIq', clicks: 9 }),
        link('https://acme.test/b,c', { slug: 'b', clicks: 0 }),
      ],
      clicks: [],
    })
  })

  test('has rows refused by column and value, and every keyword passed on as it is', async () => {
    const createdAt = '2024-12-01T20:36:18Z'
    expect(await readExample('yourls', 'hostile.sql')).toEqual({
      recognized: 'yourls both',
      links: [
        [{ field: 'keyword', value: '', message: NO_KEYWORD }],
        [
          {
            field: 'url',
            value: null,
            message: 'The destination is missing. Write the URL that the link leads to.',
          },
        ],
        link('https://acme.test/odd', { slug: 'white space/and?query#hash', createdAt, clicks: 1 }),
        link('https://acme.test/1', { slug: 'dup', createdAt, clicks: 1 }),
        link('https://acme.test/2', { slug: 'dup', createdAt, clicks: 1 }),
        [
          {
            field: 'timestamp',
            value: '2024-13-45 99:99:99',
            message: 'There is no such day or time. Correct it, or leave the cell empty.',
          },
          { field: 'clicks', value: '-7', message: 'This must be a whole number, 0 or more.' },
        ],
        link('https://acme.test/n', { slug: 'null-clicks' }),
      ],
      clicks: [
        [
          {
            field: 'click_time',
            value: '0000-00-00 00:00:00',
            message: 'The click has no time. Write it here.',
          },
        ],
        null,
        click('2024-12-10T15:36:52Z', { slug: 'dup' }),
      ],
    })
  })
})
