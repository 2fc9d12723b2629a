import { expect, spyOn, test } from 'bun:test'
import { onBothEngines, type TestWorkspace } from '../../../tests/support/world.ts'
import type { LinkResource } from './schema.ts'

const U = 'https://example.com/'
const bulk = (ws: TestWorkspace, method: string, body: unknown) => ws.api('/links/bulk', { method, body })
const ids = (links: LinkResource[]) => links.map(({ id }) => id)

/** All data of the workspace that a failed request could leave behind. */
async function inventory(ws: TestWorkspace) {
  const [links, tags] = [await ws.api('/links?archived=all&limit=100'), await ws.api('/tags?limit=100')]
  return { links: links.json.data, tags: tags.json.data }
}

onBothEngines('many links at once', (server) => {
  test('are created in the order of the request, from a list or an object with links', async () => {
    const ws = await server().createWorkspace()
    const inputs = [
      { destinationUrl: `${U}1`, tagNames: ['a', 'b'] },
      { destinationUrl: `${U}2`, tagNames: ['B'] },
    ]
    for (const body of [inputs, { links: inputs }]) {
      const { status, json } = await bulk(ws, 'POST', body)
      expect([status, Object.keys(json)]).toEqual([201, ['data']])
      expect(json.data.map((link: LinkResource) => link.destinationUrl)).toEqual([`${U}1`, `${U}2`])
      expect(json.data[1].tags.map(({ name }: { name: string }) => name)).toEqual(['b'])
      expect((await ws.api(`/links/${json.data[0].id}`)).json.data).toEqual(json.data[0])
    }
    expect((await inventory(ws)).tags).toHaveLength(2)
  })

  test('are changed one by one, as an object with links, or all in the same way', async () => {
    const ws = await server().createWorkspace()
    const made: LinkResource[] = (
      await bulk(ws, 'POST', [{ destinationUrl: U }, { destinationUrl: U, title: 'kept' }])
    ).json.data
    const [a, b] = ids(made) as [number, number]
    const titles = async (body: unknown) => {
      const { status, json } = await bulk(ws, 'PATCH', body)
      expect(status).toBe(200)
      return json.data.map(({ id, title }: LinkResource) => [id, title])
    }
    expect(await titles([{ id: b }, { id: a, title: 'one' }])).toEqual([
      [b, 'kept'],
      [a, 'one'],
    ])
    expect(await titles({ links: [{ id: a, title: null }] })).toEqual([[a, null]])
    expect(await titles({ ids: [a, b], data: { title: 'all' } })).toEqual([
      [a, 'all'],
      [b, 'all'],
    ])
    const before = await inventory(ws)
    expect(await titles({ ids: [a, b], data: {} })).toEqual([
      [a, 'all'],
      [b, 'all'],
    ])
    expect(await inventory(ws)).toEqual(before)
  })

  test('change one link several times, in the order of the request', async () => {
    const ws = await server().createWorkspace()
    const { id } = await ws.createLink()
    const { status, json } = await bulk(ws, 'PATCH', [
      { id, title: 'a' },
      { id, title: 'a' },
      { id, title: 'b' },
    ])
    expect([status, json.data.map(({ title }: LinkResource) => title)]).toEqual([200, ['a', 'a', 'b']])
    expect((await bulk(ws, 'PATCH', { ids: [id, id], data: { tagNames: ['t'] } })).status).toBe(200)
    expect((await ws.api(`/links/${id}`)).json.data).toMatchObject({ title: 'b', tags: [{ name: 't' }] })
  })

  test('are deleted together, and a repeated id only once', async () => {
    const ws = await server().createWorkspace()
    const made: LinkResource[] = (await bulk(ws, 'POST', Array(3).fill({ destinationUrl: U }))).json.data
    const [a, b, c] = ids(made) as [number, number, number]
    const { status, json } = await ws.delete(`/links/bulk?ids=${a},${b},${a}`)
    expect([status, json.data]).toEqual([200, [made[0], made[1]]])
    expect(ids((await inventory(ws)).links)).toEqual([c])
    for (const link of [made[0], made[1]] as LinkResource[])
      expect((await server().click(link.slug)).status).toBe(404)
  })

  test('are 100 at most', async () => {
    const ws = await server().createWorkspace()
    const made = await bulk(ws, 'POST', Array(100).fill({ destinationUrl: U }))
    expect([made.status, made.json.data.length]).toEqual([201, 100])
    const all = ids(made.json.data)
    expect((await bulk(ws, 'PATCH', { ids: all, data: { title: 'x' } })).json.data).toHaveLength(100)
    const before = await inventory(ws)
    for (const [method, path, body] of [
      ['POST', '/links/bulk', Array(101).fill({ destinationUrl: U })],
      ['POST', '/links/bulk', { links: Array(101).fill({ destinationUrl: U }) }],
      ['POST', '/links/bulk', []],
      ['POST', '/links/bulk', { links: [] }],
      ['POST', '/links/bulk', {}],
      ['POST', '/links/bulk', [5]],
      ['PATCH', '/links/bulk', []],
      ['PATCH', '/links/bulk', {}],
      ['PATCH', '/links/bulk', [{ title: 'no id' }]],
      ['PATCH', '/links/bulk', { ids: [...all, 1], data: { title: 'y' } }],
      ['PATCH', '/links/bulk', { ids: all }],
      ['PATCH', '/links/bulk', { ids: all, data: { title: 'y' }, more: 1 }],
      ['DELETE', '/links/bulk', undefined],
      ['DELETE', '/links/bulk?ids=', undefined],
      ['DELETE', `/links/bulk?ids=${all},1`, undefined],
      ['DELETE', `/links/bulk?ids=${all[0]}&force=1`, undefined],
    ] as const) {
      const { status, json } = await ws.api(path, { method, body })
      expect([method, path, status]).toEqual([method, path, 422])
      for (const message of Object.values(json.errors)) expect(message).toMatch(/^(must|is) [^:]+$/)
      expect(Object.keys(json.errors).length).toBeGreaterThan(0)
    }
    expect(await inventory(ws)).toEqual(before)
    expect((await ws.delete(`/links/bulk?ids=${all}`)).json.data).toHaveLength(100)
  })

  test.each<[string, (taken: string) => unknown[], number, string, Record<string, string>]>([
    ['no link', () => [], 422, 'body: must have at least one item', { body: 'must have at least one item' }],
    [
      'a wrong shape',
      () => [{ destinationUrl: U, tagNames: ['new'] }, { destinationUrl: U, slug: 'a b' }, {}],
      422,
      '1.slug: may contain letters, digits, emoji, "-", "_", "." and "/" only',
      {
        '1.slug': 'may contain letters, digits, emoji, "-", "_", "." and "/" only',
        '2.destinationUrl': 'is required',
      },
    ],
    [
      'a wrong URL',
      () => [
        { destinationUrl: U, tagNames: ['new'] },
        { destinationUrl: 'javascript:1', geoTargeting: { DE: 'x' } },
      ],
      422,
      '1.destinationUrl: must be an http or https URL',
      {
        '1.destinationUrl': 'must be an http or https URL',
        '1.geoTargeting.DE': 'must be an http or https URL',
      },
    ],
    [
      'a slug that is taken',
      (taken) => [
        { destinationUrl: U, tagNames: ['new'] },
        { destinationUrl: U },
        { destinationUrl: U, slug: taken },
      ],
      409,
      'Slug already in use',
      { '2.slug': 'Slug already in use' },
    ],
    [
      'a slug that is twice in the body',
      (taken) => [
        { destinationUrl: U, slug: `${taken}-x` },
        { destinationUrl: U, slug: `${taken.toUpperCase()}-X`, tagNames: ['new'] },
      ],
      409,
      'Slug already in use',
      { '1.slug': 'Slug already in use' },
    ],
    [
      'an external id that is twice in the body',
      () => [
        { destinationUrl: U, externalId: 'e' },
        { destinationUrl: U, tagNames: ['new'] },
        { destinationUrl: U, externalId: 'e' },
      ],
      409,
      'External id already in use',
      { '2.externalId': 'External id already in use' },
    ],
    [
      'several mistakes, of which the first decides the status',
      (taken) => [
        { destinationUrl: U, slug: 'docs' },
        { destinationUrl: U, tagIds: [999_999] },
        { destinationUrl: U, slug: taken },
      ],
      409,
      'Slug is reserved',
      { '0.slug': 'Slug is reserved', '1.tagIds': 'there is no tag 999999', '2.slug': 'Slug already in use' },
    ],
    [
      'an unknown tag first',
      (taken) => [
        { destinationUrl: U, tagIds: [999_999] },
        { destinationUrl: U, slug: taken },
      ],
      422,
      '0.tagIds: there is no tag 999999',
      { '0.tagIds': 'there is no tag 999999', '1.slug': 'Slug already in use' },
    ],
  ])('are not created after %s', async (name, inputs, status, error, errors) => {
    const ws = await server().createWorkspace()
    const { slug } = await ws.createLink()
    const before = await inventory(ws)
    const answer = await bulk(ws, 'POST', inputs(slug))
    expect([name, answer.status, answer.json]).toEqual([name, status, { error, errors }])
    expect(await inventory(ws)).toEqual(before)
    expect((await server().click(`${slug}-x`)).status).toBe(404)
  })

  test('are not changed or deleted when one of them does not exist', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const [own, free, theirs] = [
      await ws.createLink({ title: 'own' }),
      await ws.createLink(),
      await other.createLink(),
    ]
    const before = await inventory(ws)
    const data = { title: 'changed', tagNames: ['new'], slug: undefined }
    for (const [method, path, body, status, errors] of [
      [
        'PATCH',
        '',
        [
          { id: own.id, ...data },
          { id: theirs.id, ...data },
        ],
        404,
        { '1.id': 'Link not found' },
      ],
      [
        'PATCH',
        '',
        { ids: [own.id, 999_999, theirs.id], data },
        404,
        { '1.id': 'Link not found', '2.id': 'Link not found' },
      ],
      [
        'PATCH',
        '',
        [
          { id: own.id, ...data },
          { id: free.id, slug: own.slug.toUpperCase() },
        ],
        409,
        { '1.slug': 'Slug already in use' },
      ],
      [
        'PATCH',
        '',
        { ids: [own.id, free.id], data: { externalId: 'same' } },
        409,
        { '1.externalId': 'External id already in use' },
      ],
      ['DELETE', `?ids=${own.id},${own.id},${theirs.id}`, undefined, 404, { '2.id': 'Link not found' }],
    ] as const) {
      const answer = await ws.api(`/links/bulk${path}`, { method, body })
      expect([answer.status, answer.json.errors]).toEqual([status, errors])
      expect(await inventory(ws)).toEqual(before)
    }
    expect((await server().click(own.slug)).status).toBe(302)
    expect((await other.api(`/links/${theirs.id}`)).json.data).toEqual(theirs)
  })

  test('redirect to their new destinations with the next request', async () => {
    const ws = await server().createWorkspace()
    const made: LinkResource[] = (await bulk(ws, 'POST', Array(3).fill({ destinationUrl: U }))).json.data
    for (const { slug } of made) expect((await server().click(slug)).headers.get('location')).toBe(U)
    await bulk(ws, 'PATCH', { ids: ids(made), data: { destinationUrl: 'https://example.org/' } })
    for (const { slug } of made)
      expect((await server().click(slug)).headers.get('location')).toBe('https://example.org/')
  })

  test('may have more different passwords than the queue of hashes is long', async () => {
    const ws = await server().createWorkspace()
    const body = Array.from({ length: 53 }, (_, i) => ({ destinationUrl: U, password: `password ${i}` }))
    const hash = spyOn(Bun.password, 'hash').mockImplementation(async (password) => `hash of ${password}`)
    try {
      const { status, json } = await bulk(ws, 'POST', body)
      expect(status).toBe(201)
      expect(json.data.every((link: LinkResource) => link.passwordProtected)).toBe(true)
    } finally {
      hash.mockRestore()
    }
    const rows = await server().rows('links', { workspace_id: ws.id })
    expect(new Set(rows.map((row) => row.password_hash)).size).toBe(53)
  })
})
