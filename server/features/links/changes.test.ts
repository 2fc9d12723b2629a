import { expect, test } from 'bun:test'
import { atScale } from '../../../tests/support/suite.ts'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../tests/support/world.ts'
import type { LinkResource } from './schema.ts'

const U = 'https://example.com/'
const OTHER = 'https://example.org/'
const NOT_FOUND = { error: 'Link not found' }

const patch = async (ws: TestWorkspace, { id }: LinkResource, body: object): Promise<LinkResource> =>
  (await ws.api(`/links/${id}`, { method: 'PATCH', body })).json.data

const patchWith = (ws: TestWorkspace, id: number, body: object, ifMatch?: string) =>
  ws.api(`/links/${id}`, {
    method: 'PATCH',
    body,
    headers: ifMatch === undefined ? {} : { 'If-Match': ifMatch },
  })

async function led(server: TestServer, slug: string): Promise<unknown[]> {
  const { status, headers } = await server.click(slug)
  return [status, headers.get('location')]
}

onBothEngines('a change takes effect with the next redirect', (server) => {
  const nothing = [404, null]

  test.each<[string, object, (link: LinkResource) => unknown[]]>([
    ['a destination', { destinationUrl: OTHER }, () => [302, OTHER]],
    ['a UTM value', { utmSource: 'mail' }, () => [302, `${U}?utm_source=mail`]],
    ['a status', { redirectStatus: 307 }, () => [307, U]],
    ['archiving', { archived: true }, () => nothing],
    ['a start to come', { startsAt: '2099-01-01T00:00:00Z' }, () => nothing],
    ['an end that is past', { expiresAt: '2020-01-01T00:00:00Z' }, () => [410, null]],
    [
      'an end with another place to go',
      { expiresAt: '2020-01-01T00:00:00Z', expiredUrl: OTHER },
      () => [302, OTHER],
    ],
    ['a password', { password: 'open' }, () => [200, null]],
    ['a device of its own', { deviceTargeting: { ios: OTHER } }, () => [302, OTHER]],
  ])('%s, and the change back', async (_, body, expected) => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ destinationUrl: U })
    expect(await led(server(), link.slug)).toEqual([302, U])
    await patch(ws, link, body)
    expect(await led(server(), link.slug)).toEqual(expected(link))
    const back = Object.fromEntries(Object.keys(body).map((field) => [field, null]))
    await patch(ws, link, 'destinationUrl' in body ? { destinationUrl: U } : back)
    expect(await led(server(), link.slug)).toEqual([302, U])
  })

  test('another slug: the new one redirects, the old one no longer, and back', async () => {
    const ws = await server().createWorkspace()
    const [one, two] = [`one-${ws.id}`, `Two-${ws.id}`]
    const link = await ws.createLink({ slug: one })
    expect([await led(server(), one), await led(server(), two)]).toEqual([[302, U], nothing])
    await patch(ws, link, { slug: two })
    expect([await led(server(), one), await led(server(), two)]).toEqual([nothing, [302, U]])
    await patch(ws, link, { slug: one })
    expect([await led(server(), one), await led(server(), two)]).toEqual([[302, U], nothing])
  })

  test('a slug that moves from one link to another', async () => {
    const ws = await server().createWorkspace()
    const slug = `moves-${ws.id}`
    const first = await ws.createLink({ slug })
    const second = await ws.createLink({ destinationUrl: OTHER })
    expect(await led(server(), slug)).toEqual([302, U])
    await patch(ws, first, { slug: `${slug}-old` })
    await patch(ws, second, { slug })
    expect([await led(server(), slug), await led(server(), `${slug}-old`)]).toEqual([
      [302, OTHER],
      [302, U],
    ])
  })

  test('a new link under a slug that was requested before, in any case', async () => {
    const ws = await server().createWorkspace()
    const slug = `Later-${ws.id}`
    for (const asked of [slug, slug.toLowerCase()]) expect(await led(server(), asked)).toEqual(nothing)
    await ws.createLink({ slug })
    for (const asked of [slug, slug.toLowerCase()]) expect(await led(server(), asked)).toEqual([302, U])
  })

  test('a refused link, which changes nothing', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    expect(await led(server(), link.slug)).toEqual([302, U])
    await ws.api(`/links/${link.id}`, { method: 'PATCH', body: { destinationUrl: OTHER, slug: 'docs' } })
    expect(await led(server(), link.slug)).toEqual([302, U])
  })

  test('many changes during redirects: each redirect goes to one of the two destinations, and the last to the last', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    let changing = true
    const follow = async () => {
      while (changing)
        expect([U, OTHER]).toContain((await server().click(link.slug)).headers.get('location') ?? '')
    }
    const followers = [follow(), follow()]
    for (let i = 0; i < atScale({ quick: 10, full: 50, soak: 50 }); i++) {
      const destinationUrl = i % 2 ? U : OTHER
      await patch(ws, link, { destinationUrl })
      expect(await led(server(), link.slug)).toEqual([302, destinationUrl])
    }
    changing = false
    await Promise.all(followers)
  })
})

onBothEngines('deleting a link', (server) => {
  test('answers with the link as it was, removes it everywhere and stops its redirect', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ slug: `gone-${ws.id}`, externalId: 'e', tagNames: ['t'], title: 'x' })
    expect(await led(server(), link.slug)).toEqual([302, U])
    const { status, json } = await ws.api(`/links/${link.id}`, { method: 'DELETE' })
    expect([status, json]).toEqual([200, { data: link }])
    expect(await led(server(), link.slug)).toEqual([404, null])
    expect(await led(server(), link.slug.toUpperCase())).toEqual([404, null])
    for (const [path, call] of [
      ['', {}],
      ['', { method: 'PATCH', body: { title: 'y' } }],
      ['', { method: 'PATCH', body: {} }],
      ['', { method: 'DELETE' }],
      ['/qr', {}],
      ['/resolve', {}],
    ] as const) {
      const answer = await ws.api(`/links/${link.id}${path}`, call)
      expect([path, answer.status, answer.json]).toEqual([path, 404, NOT_FOUND])
    }
    expect((await ws.api('/links?archived=all')).json).toEqual({ data: [], nextCursor: null, total: 0 })
  })

  test('for good frees its slug and external id, but not its id', async () => {
    const ws = await server().createWorkspace()
    const ids = new Set<number>()
    for (let i = 0; i < 5; i++) {
      const link = await ws.createLink({ slug: `again-${ws.id}`, externalId: 'again' })
      ids.add(link.id)
      expect(await led(server(), link.slug)).toEqual([302, U])
      await ws.api(`/links/${link.id}`, { method: 'DELETE' })
      await ws.api(`/links/${link.id}?permanent=true`, { method: 'DELETE' })
    }
    const { id } = await ws.createLink()
    expect(ids.size).toBe(5)
    expect(id).toBeGreaterThan(Math.max(...ids))
  })

  test('stores what was answered during parallel changes, and restores nothing', async () => {
    const ws = await server().createWorkspace()
    for (let round = 0; round < atScale({ quick: 4, full: 10, soak: 10 }); round++) {
      const link = await ws.createLink({ slug: `both-${ws.id}-${round}` })
      const change = { slug: `new-${ws.id}-${round}`, title: 'new' }
      const [changed, deleted] = await Promise.all([
        ws.api(`/links/${link.id}`, { method: 'PATCH', body: change }),
        ws.api(`/links/${link.id}`, { method: 'DELETE' }),
      ])
      expect(deleted.status).toBe(200)
      if (changed.status === 200) expect(deleted.json.data.title).toBe('new')
      else expect([changed.status, changed.json, deleted.json.data]).toEqual([404, NOT_FOUND, link])
      for (const slug of [link.slug, change.slug]) expect(await led(server(), slug)).toEqual([404, null])
    }
  })

  test("answers 404 for another workspace's link, which keeps working", async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const theirs = await other.createLink()
    for (const call of [{}, { method: 'PATCH', body: { title: 'mine' } }, { method: 'DELETE' }]) {
      const { status, json } = await ws.api(`/links/${theirs.id}`, call)
      expect([status, json]).toEqual([404, NOT_FOUND])
    }
    for (const id of ['0', '-1', 'x', '1e3', '01', '1.0', '99999999999999999999', '%00'])
      expect([id, (await ws.api(`/links/${id}`)).status]).toEqual([id, 404])
    expect((await other.api(`/links/${theirs.id}`)).json.data).toEqual(theirs)
    expect(await led(server(), theirs.slug)).toEqual([302, U])
  })
})

onBothEngines.quick('changes of one link at once', (server) => {
  test('deletes once for twenty parallel requests', async () => {
    const ws = await server().createWorkspace()
    const { id } = await ws.createLink()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ws.api(`/links/${id}`, { method: 'DELETE' })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(404)])
  })

  test('of different fields are both kept, also for searches', async () => {
    const ws = await server().createWorkspace()
    for (let round = 0; round < atScale({ quick: 4, full: 10, soak: 10 }); round++) {
      const link = await ws.createLink()
      const slug = `pair-${ws.id}-${round}`
      await Promise.all([patch(ws, link, { title: `title ${round}` }), patch(ws, link, { slug })])
      expect((await ws.api(`/links/${link.id}`)).json.data).toMatchObject({ slug, title: `title ${round}` })
      for (const search of [slug, `title ${round}`])
        expect((await ws.api(`/links?search=${search}`)).json.data.map(({ id }: LinkResource) => id)).toEqual(
          [link.id],
        )
    }
  })

  test('of twenty at once, one wins', async () => {
    const ws = await server().createWorkspace()
    const { id, updatedAt } = await ws.createLink()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => patchWith(ws, id, { title: `${n}` }, `"${updatedAt}"`)),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(412)])
  })
})

onBothEngines('two people who edit the same link', (server) => {
  test('the second is told with If-Match, and overwrites nothing', async () => {
    const ws = await server().createWorkspace()
    const { id, updatedAt } = await ws.createLink({ title: 'old' })
    const read = await ws.api(`/links/${id}`)
    const etag = read.headers.get('etag') ?? ''
    expect(etag).toBe(`"${updatedAt}"`)
    const first = await patchWith(ws, id, { title: 'first' }, etag)
    expect([first.status, first.json.data.title]).toEqual([200, 'first'])
    const second = await patchWith(ws, id, { title: 'second', comments: 'c' }, etag)
    expect([second.status, second.json]).toEqual([
      412,
      {
        error:
          'The link has changed since you read it. Read it again, and repeat your change with its new ETag.',
      },
    ])
    expect((await patchWith(ws, id, {}, etag)).status).toBe(412)
    for (const query of ['', '?permanent=true']) {
      const headers = { 'If-Match': etag }
      expect((await ws.api(`/links/${id}${query}`, { method: 'DELETE', headers })).status).toBe(412)
    }
    expect((await ws.api(`/links/${id}`)).json.data).toEqual(first.json.data)
    const again = await patchWith(ws, id, { title: 'second' }, first.headers.get('etag') ?? '')
    expect([again.status, again.json.data.title]).toEqual([200, 'second'])
    const headers = { 'If-Match': again.headers.get('etag') ?? '' }
    expect((await ws.api(`/links/${id}`, { method: 'DELETE', headers })).status).toBe(200)
  })

  test('without the header, with "*" and with one of several ETags, the change is made', async () => {
    const ws = await server().createWorkspace()
    const { id, updatedAt } = await ws.createLink()
    expect((await patchWith(ws, id, { title: 'a' }, `"other", W/"${updatedAt}"`)).status).toBe(200)
    expect((await patchWith(ws, id, { title: 'b' }, '*')).status).toBe(200)
    expect((await patchWith(ws, id, { title: 'c' })).status).toBe(200)
    expect((await patchWith(ws, id, { title: 'd' }, updatedAt)).status).toBe(422)
  })

  test('a click is no edit', async () => {
    const ws = await server().createWorkspace()
    const { id, slug, updatedAt } = await ws.createLink()
    await server().click(slug)
    await server().waitUntilShipped()
    const link = (await ws.api(`/links/${id}`)).json.data
    expect([link.clicks, link.updatedAt]).toEqual([1, updatedAt])
    expect((await patchWith(ws, id, { title: 'a' }, `"${updatedAt}"`)).status).toBe(200)
  })
})
