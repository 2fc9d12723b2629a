import { describe, expect, test } from 'bun:test'
import { link, readExample } from './read-example.fixture.ts'
import { LOST_PASSWORD } from './source-link.ts'

const id = (number: number) => `7a1f0b1e-2f5b-4c58-9c55-0d8a2f6b1c0${number}`
const host = 'kutt.acme.test'

describe('links of Kutt', () => {
  test('come from its API. What was protected or banned is archived.', async () => {
    expect(await readExample('kutt', 'links.json')).toEqual({
      recognized: 'kutt links',
      links: [
        link('https://acme.test/poster?x=1', {
          sourceKey: id(1),
          host,
          slug: 'Ab3dE',
          comments: 'The poster at the door',
          createdAt: '2024-01-10T10:00:00Z',
          expiresAt: '2027-01-01T00:00:00Z',
          clicks: 120,
        }),
        link('https://acme.test/secret', {
          sourceKey: id(2),
          host: 'go.acme.test',
          slug: 'secret',
          createdAt: '2024-01-11T10:00:00Z',
          archived: true,
          clicks: 0,
          left: [LOST_PASSWORD],
        }),
        link('https://malware.acme.test/', {
          sourceKey: id(3),
          host,
          slug: 'bad',
          createdAt: '2024-01-12T10:00:00Z',
          archived: true,
          clicks: 4,
          left: ['being banned: it is archived here'],
        }),
      ],
      clicks: [],
    })
  })

  test('come from the list of its administrators', async () => {
    const { recognized, links } = await readExample('kutt', 'links-admin.json')
    expect(recognized).toBe('kutt links')
    expect(links).toEqual([
      link('https://acme.test/poster?x=1', {
        sourceKey: id(1),
        host,
        slug: 'Ab3dE',
        comments: 'The poster at the door',
        createdAt: '2024-01-10T10:00:00Z',
        expiresAt: '2027-01-01T00:00:00Z',
        clicks: 12_345,
      }),
    ])
  })

  test('come from its first API', async () => {
    const { recognized, links } = await readExample('kutt', 'links-v1.json')
    expect(recognized).toBe('kutt links')
    expect(links).toEqual([
      link('https://acme.test/2019', {
        sourceKey: id(9),
        host,
        slug: 'Xy12Z',
        createdAt: '2019-10-08T10:00:00Z',
        clicks: 7,
      }),
    ])
  })

  test('come from its table', async () => {
    const { recognized, links } = await readExample('kutt', 'links-table.csv')
    expect(recognized).toBe('kutt links')
    expect(links).toEqual([
      link('https://acme.test/poster', {
        sourceKey: id(1),
        slug: 'Ab3dE',
        createdAt: '2024-01-10T10:00:00.123Z',
        clicks: 120,
      }),
      link('https://acme.test/secret', {
        sourceKey: id(2),
        slug: 'secret',
        comments: 'Board only',
        createdAt: '2024-01-11T10:00:00Z',
        archived: true,
        expiresAt: '2027-01-01T00:00:00Z',
        clicks: 0,
        left: [LOST_PASSWORD],
      }),
    ])
  })

  test('that Kutt would not write are refused by column and value', async () => {
    const { recognized, links } = await readExample('kutt', 'hostile-links.json')
    expect(recognized).toBe('kutt links')
    const problems = links.map((row) =>
      Array.isArray(row) ? row.map(({ field, value }) => [field, value]) : row,
    )
    expect(problems).toEqual([
      [['address', null]],
      [['target', null]],
      [['visit_count', '1e99']],
      [['expire_in', '2 minutes']],
      [
        ['address', '\ufffd\ufffd'],
        ['banned', 'perhaps'],
        ['target', 'https://acme.test/\ufffd'],
      ],
    ])
  })
})
