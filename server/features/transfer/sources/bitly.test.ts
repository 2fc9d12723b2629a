import { describe, expect, test } from 'bun:test'
import { bitly } from './bitly.ts'
import { link, readExample, UTC } from './read-example.fixture.ts'
import { toLink } from './read-record.ts'

describe('links of Bitly', () => {
  test('come from pages of its API, at the back-halves that people have chosen', async () => {
    const { recognized, links } = await readExample('bitly', 'bitlinks.ndjson')
    expect(recognized).toBe('bitly links')
    expect(links).toEqual([
      link('https://acme.example/launch?utm_source=mail', {
        sourceKey: 'bit.ly/3E8Nec6',
        host: 'go.acme.example',
        slug: 'launch',
        aliases: ['Launch-2'],
        title: 'Launch',
        tags: ['spring', '2023'],
        createdAt: '2023-08-25T08:38:00Z',
      }),
      link('https://acme.example/old', {
        sourceKey: 'bit.ly/2TR00bO',
        host: 'bit.ly',
        slug: '2TR00bO',
        createdAt: '2021-07-11T11:53:35Z',
        archived: true,
      }),
      link('https://acme.example/docs', {
        sourceKey: 'acme.example.link/2tr00bo',
        host: 'acme.example.link',
        slug: 'docs',
        aliases: ['2tr00bo'],
        title: 'Docs',
        tags: ['docs'],
        createdAt: '2020-01-02T03:04:05Z',
      }),
    ])
  })

  test('come from its CSV reports, whatever their headers are, and have the keys of the API', async () => {
    const launch = {
      sourceKey: 'bit.ly/3E8Nec6',
      clicks: 1204,
    }
    const report = await readExample('bitly', 'links-report.csv')
    expect(report.recognized).toBe('bitly links')
    expect(report.links).toEqual([
      link('https://acme.example/launch?utm_source=mail', {
        ...launch,
        host: 'go.acme.example',
        slug: 'launch',
        title: 'Launch',
        tags: ['spring', '2023'],
        createdAt: '2023-08-25T00:00:00Z',
      }),
      link('https://acme.example/old', {
        sourceKey: 'bit.ly/2TR00bO',
        host: 'bit.ly',
        slug: '2TR00bO',
        createdAt: '2021-07-11T00:00:00Z',
        clicks: 0,
      }),
    ])
    const clicks = await readExample('bitly', 'clicks-report.csv')
    expect(clicks.links).toEqual([
      link('https://acme.example/launch?utm_source=mail', {
        ...launch,
        host: 'bit.ly',
        slug: '3E8Nec6',
        createdAt: '2023-08-25T08:38:00Z',
      }),
    ])
  })

  test.each([
    ['is_deleted', 'true', null],
    ['Is Deleted', '1', null],
    ['deleted', 'yes', null],
    ['is_deleted', 'false', 'https://acme.example/'],
    ['is_deleted', '', 'https://acme.example/'],
  ])('are none where Bitly has deleted them: %s = %p', (column, value, destinationUrl) => {
    const fields = new Map([
      ['link', 'https://bit.ly/abc'],
      ['long_url', 'https://acme.example/'],
      [column, value],
    ])
    const reading = toLink(bitly, { row: 2, table: null, fields, columns: [...fields.keys()] }, UTC)
    expect(reading && 'value' in reading ? reading.value.destinationUrl : reading).toEqual(destinationUrl)
  })

  test('keep formulas and emoji as text, and name what is wrong by row and column', async () => {
    const { links } = await readExample('bitly', 'hostile.csv')
    expect(links).toEqual([
      link('https://acme.example/rocket', {
        sourceKey: 'go.acme.example/🚀',
        host: 'go.acme.example',
        slug: '🚀',
        title: '=HYPERLINK("https://evil.example","x")',
        createdAt: '2025-11-03T16:05:00Z',
      }),
      // Rules about destinations are those of this server.
      link('javascript:alert(1)', {
        sourceKey: 'go.acme.example/🚀/Größe',
        host: 'go.acme.example',
        slug: '🚀/Größe',
        title: '+1',
        createdAt: '2025-11-03T00:00:00Z',
      }),
      [
        {
          field: 'Long URL',
          value: null,
          message: 'The destination is missing. Write the URL that the link leads to.',
        },
      ],
      [
        {
          field: 'Bitlink',
          value: 'not a link',
          message: 'This is not a short URL. Write it as https://bit.ly/abc.',
        },
      ],
      [
        {
          field: 'Created',
          value: '2025-02-30',
          message: 'There is no such day or time. Correct it, or leave the cell empty.',
        },
      ],
      [expect.objectContaining({ field: 'row' })],
    ])
  })
})
