import { expect, test } from 'bun:test'
import { onBothEngines, type TestWorkspace } from '../../../tests/support/world.ts'

const U = 'https://example.com/'
const upsert = (ws: TestWorkspace, body: unknown) => ws.put('/links/upsert', body)

onBothEngines('upsert', (server) => {
  test('by external id creates the link, then changes it, and keeps absent fields', async () => {
    const ws = await server().createWorkspace()
    const made = await upsert(ws, {
      externalId: 'e',
      destinationUrl: U,
      title: 'one',
      comments: 'kept',
      tagNames: ['t'],
    })
    expect(made.status).toBe(201)
    const changed = await upsert(ws, { externalId: 'e', destinationUrl: 'https://example.org/', title: null })
    expect(changed.status).toBe(200)
    const { updatedAt } = changed.json.data
    expect(changed.json.data).toEqual({
      ...made.json.data,
      destinationUrl: 'https://example.org/',
      title: null,
      updatedAt,
    })
    expect((await ws.api('/links')).json.data).toEqual([changed.json.data])
    expect((await server().click(made.json.data.slug)).headers.get('location')).toBe('https://example.org/')
  })

  test('by domain and destination finds the URL in any spelling, with its UTM values', async () => {
    const ws = await server().createWorkspace()
    const domain = new URL(server().origin).host
    const made = await upsert(ws, { destinationUrl: 'https://EXAMPLE.com', utmSource: 'mail' })
    expect([made.status, made.json.data.destinationUrl]).toEqual([201, `${U}?utm_source=mail`])
    for (const [body, status] of [
      [{ destinationUrl: U, utmSource: 'mail', title: 'found' }, 200],
      [{ destinationUrl: `${U}?utm_source=mail`, domain }, 200],
      [{ destinationUrl: U }, 201],
      [{ destinationUrl: U, utmSource: 'web' }, 201],
    ] as const) {
      const answer = await upsert(ws, body)
      expect([body, answer.status, answer.json.data.id === made.json.data.id]).toEqual([
        body,
        status,
        status === 200,
      ])
    }
    expect((await ws.api(`/links/${made.json.data.id}`)).json.data.title).toBe('found')
  })

  test('changes the oldest of several links, and no link that is deleted or of another workspace', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const theirs = await other.createLink({ externalId: 'e' })
    const gone = await ws.createLink({ externalId: 'e' })
    await ws.delete(`/links/${gone.id}`)
    const [oldest] = [await ws.createLink(), await ws.createLink()]
    expect((await upsert(ws, { destinationUrl: U, title: 'x' })).json.data.id).toBe(oldest.id)
    const made = await upsert(ws, { destinationUrl: U, externalId: 'e' })
    expect(made.status).toBe(201)
    expect([gone.id, theirs.id, oldest.id]).not.toContain(made.json.data.id)
    expect((await other.api(`/links/${theirs.id}`)).json.data).toEqual(theirs)
  })

  test('follows every rule of create and update', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ slug: `taken-${server().engine}` })
    for (const [body, status, error] of [
      [{ title: 'x' }, 422, 'destinationUrl: is required'],
      [{ destinationUrl: 'javascript:1' }, 422, 'destinationUrl: must be an http or https URL'],
      [{ destinationUrl: U, domain: 'x.example' }, 422, expect.stringMatching(/^domain: is not a domain/)],
      [{ destinationUrl: `${U}new`, slug: link.slug }, 409, 'Slug already in use'],
      [{ destinationUrl: U, slug: 'docs' }, 409, 'Slug is reserved'],
      [{ destinationUrl: U, tagIds: [999_999] }, 422, 'tagIds: there is no tag 999999'],
      [{ destinationUrl: U, id: link.id }, 422, 'id: is not a known field'],
    ] as const) {
      const answer = await upsert(ws, body)
      expect([body, answer.status, answer.json.error]).toEqual([body, status, error])
    }
    expect((await ws.api('/links')).json.data).toEqual([link])
  })
})

onBothEngines.quick('upserts at once', (server) => {
  test.each([
    ['external id', { externalId: 'race', destinationUrl: U }],
    ['destination', { destinationUrl: 'https://example.com/race' }],
  ])('of the same %s makes one link for many parallel requests', async (_, body) => {
    const ws = await server().createWorkspace()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        upsert(ws, { ...body, title: `title ${i}`, tagNames: [`tag ${i % 3}`, 'all'] }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(19).fill(200), 201])
    expect(new Set(answers.map(({ json }) => json.data.id)).size).toBe(1)
    expect((await ws.api('/links')).json.total).toBe(1)
    expect((await ws.api('/tags')).json.total).toBe(4)
  })

  test('works beside parallel creates and changes', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ externalId: 'busy' })
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => {
        if (i % 3 === 0)
          return upsert(ws, { destinationUrl: U, externalId: 'busy', tagNames: ['a', 'b'], title: `${i}` })
        if (i % 3 === 1) return ws.post('/links', { destinationUrl: U, tagNames: ['b', 'a'] })
        return ws.patch(`/links/${link.id}`, { comments: `${i}`, tagNames: ['b', 'c', 'a'] })
      }),
    )
    expect(answers.map(({ status }, i) => [i, status])).toEqual(
      answers.map((_, i) => [i, i % 3 === 1 ? 201 : 200]),
    )
    expect((await ws.api('/links')).json.total).toBe(21)
    expect((await ws.api('/tags')).json.total).toBe(3)
  })
})
