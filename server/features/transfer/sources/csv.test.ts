import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openSourceFile } from '../files/open-source-file.ts'
import type { FileRecord } from '../files/source-file.ts'
import { csv } from './csv.ts'
import { link, readExample, UTC } from './read-example.fixture.ts'
import { toLink } from './read-record.ts'

const toRecord = (cells: Record<string, string>, columns = Object.keys(cells)): FileRecord => ({
  row: 2,
  table: null,
  fields: new Map(Object.entries(cells)),
  columns,
})
const read = (cells: Record<string, string>, mapping: Record<string, string> = {}) =>
  toLink(csv, toRecord(cells), { ...UTC, mapping })

describe('links of any table', () => {
  test('are found by the usual names of columns', async () => {
    const plain = await readExample('csv', 'plain.csv')
    expect(plain.recognized).toBe('csv links')
    expect(plain.links).toEqual([
      link('https://example.com/page-1', {
        slug: 'page-1',
        tags: ['marketing', 'q1'],
        expiresAt: '2026-12-31T00:00:00Z',
      }),
      link('https://example.com/page-2', {}),
    ])
    const { links } = await readExample('csv', 'short-urls.csv')
    expect(links).toEqual([
      link('https://www.example.com/tech/', { host: 'custom.example', slug: '37r' }),
      link('http://example.com/', { host: 'custom.example', slug: 'été' }),
    ])
  })

  test.each([
    [
      ['Target', 'Back-half', 'Title', 'Created', 'Total Clicks', 'Tag'],
      {
        destinationUrl: 'Target',
        slug: 'Back-half',
        title: 'Title',
        createdAt: 'Created',
        clicks: 'Total Clicks',
        tags: 'Tag',
      },
    ],
    [
      ['Long URL', 'Short URL', 'Domain', 'Date created'],
      { destinationUrl: 'Long URL', shortUrl: 'Short URL', domain: 'Domain', createdAt: 'Date created' },
    ],
    [
      ['Link', 'Destination', 'Clicks (all time)'],
      { destinationUrl: 'Destination', shortUrl: 'Link', clicks: 'Clicks (all time)' },
    ],
    [['link', 'alias'], { destinationUrl: 'link', slug: 'alias' }],
    [['url', 'keyword'], { destinationUrl: 'url', slug: 'keyword' }],
    [['-', '_', ''], {}],
    [['Wohin'], {}],
  ])('have their mapping suggested: %j', (columns, mapping) => {
    expect(csv.suggestMapping?.(columns)).toEqual(mapping)
  })

  test('are found by a mapping, and dates have the order and zone that was said', async () => {
    const mapping = { destinationUrl: 'Wohin', slug: 'Kürzel', createdAt: 'Angelegt' }
    const options = { dateOrder: 'dmy' as const, timeZone: 'Europe/Berlin', mapping }
    expect((await readExample('csv', 'mapped.csv', options)).links).toEqual([
      link('https://example.com/1', { slug: 'eins', createdAt: '2025-04-03T14:05:00Z' }),
      link('https://example.com/2', { slug: 'zwei', createdAt: '2025-04-13T14:05:00Z' }),
    ])
    const { links } = await readExample('csv', 'mapped.csv', { ...options, dateOrder: null })
    expect(links[0]).toEqual([
      {
        field: 'Angelegt',
        value: '03.04.2025 16:05',
        message:
          'Day and month could be either way round. Choose the order of dates for this file, or write 2026-03-29.',
      },
    ])
  })

  test.each([
    [
      {},
      'No column is known to have the destination. Say which one it is, as destinationUrl of the mapping. The file has: Wohin, Kürzel, Angelegt.',
    ],
    [
      { destinationUrl: 'Ziel' },
      'mapping: the file has no column "Ziel". The file has: Wohin, Kürzel, Angelegt.',
    ],
  ])('have a mapping that does not fit refused: %j', async (mapping: Record<string, string>, message) => {
    const path = join(import.meta.dir, 'fixtures/csv/mapped.csv')
    const file = await openSourceFile(path, null)
    expect(() => csv.checkMapping?.(file, mapping)).toThrow(message)
    expect(() => csv.checkMapping?.(file, { destinationUrl: 'Wohin', slug: '' })).not.toThrow()
    // An inspection before any mapping gets the rows.
    const { links } = await readExample('csv', 'mapped.csv', { ...UTC, mapping })
    expect(links).toHaveLength(2)
  })

  test.each([
    [
      { id: '17', externalId: 'crm-7' },
      { sourceKey: '17', own: { externalId: 'crm-7' } },
    ],
    [{ externalId: 'crm-7' }, { sourceKey: 'crm-7', own: { externalId: 'crm-7' } }],
    [{ uuid: '17' }, { sourceKey: '17' }],
  ])('have the external id of a column of that name only: %j', (cells: Record<string, string>, found) => {
    expect(read({ url: 'https://example.com', ...cells })).toEqual({
      value: link('https://example.com', found),
    })
  })

  test('take nothing from a column that has no letters in its name', () => {
    expect(read({ url: 'https://example.com', '-': 'A', _: 'B' })).toEqual({
      value: link('https://example.com', {}),
    })
  })

  test('leave out what the mapping leaves out, and use a column once', () => {
    expect(read({ url: 'https://example.com', title: 'A', name: 'B' }, { title: '' })).toEqual({
      value: link('https://example.com', {}),
    })
    expect(read({ url: 'https://example.com', title: 'A' }, { comments: 'title' })).toEqual({
      value: link('https://example.com', { comments: 'A' }),
    })
  })

  test.each([
    ['https://go.example/a%2Fb', 'go.example', 'a/b'],
    ['go.example/%zz', 'go.example', '%zz'],
    ['HTTP://GO.example:8080/A/', 'go.example', 'A'],
    ['https://bücher.example/x', 'xn--bcher-kva.example', 'x'],
    ['https://go.example/', 'go.example', null],
    ['http://localhost/abc', 'localhost', 'abc'],
    ['http://localhost:3000/abc', 'localhost', 'abc'],
    ['https://GO/menu/today', 'go', 'menu/today'],
    ['go/menu', 'go', 'menu'],
    ['go:8080/menu?x', 'go', 'menu'],
    ['https://intranet', 'intranet', null],
    ['https://büro/x', 'xn--bro-hoa', 'x'],
  ])('have the host and slug of their short URL: %s', (shortUrl, host, slug) => {
    expect(read({ url: 'https://example.com', shortUrl })).toEqual({
      value: link('https://example.com', { host, slug }),
    })
  })

  test.each(['go', 'https://go/', 'GO:8080'])('may be on a host of one label: %s', (domain) => {
    expect(read({ url: 'http://intranet/menu', domain, slug: 'menu' })).toEqual({
      value: link('http://intranet/menu', { host: 'go', slug: 'menu' }),
    })
  })

  test.each([
    [{ shortUrl: '123' }, 'This is not a short URL. Write it as https://go.example/slug.'],
    [{ shortUrl: 'N/A' }, 'This is not a short URL. Write it as https://go.example/slug.'],
    [{ shortUrl: 'menu' }, 'This is not a short URL. Write it as https://go.example/slug.'],
    [{ shortUrl: 'http://123/x' }, 'This is not a short URL. Write it as https://go.example/slug.'],
    [{ domain: '123' }, 'This is not a domain. Write it as go.example.'],
    [{ shortUrl: 'javascript:alert(1)' }, 'This is not a short URL. Write it as https://go.example/slug.'],
    [{ domain: 'not a domain' }, 'This is not a domain. Write it as go.example.'],
    [{ clicks: '1.5' }, 'This must be a whole number, 0 or more.'],
    [{ archived: 'perhaps' }, 'This must be true or false.'],
    [{ created: '1.2.3.4' }, 'This date cannot be read. Write it as 2025-11-03 16:05:00.'],
    [{ title: 'a\0b' }, 'The text has a NUL character or half a character. Remove it.'],
  ])('say what is wrong: %j', (cells: Record<string, string>, message) => {
    const [[field, value]] = Object.entries(cells) as [[string, string]]
    const reading = read({ url: 'https://example.com', ...cells })
    expect(reading).toEqual({ problems: [{ field, value: value.replace('\0', '�'), message }] })
  })
})
