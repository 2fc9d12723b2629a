// One change of many links: what each of them gets, what the answer says of those that cannot change, and the undoing.

import { expect, test } from 'bun:test'
import { onBothEngines, type TestWorkspace } from '../../../../tests/support/world.ts'
import type { LinkResource } from '../schema.ts'
import type { EditedLinksResource } from './schema.ts'

const U = 'https://old.example/'

onBothEngines('a change of many links', (server) => {
  const send = async (ws: TestWorkspace, body: object) => {
    const { status, json } = await ws.post('/links/bulk-edit', body)
    return { status, data: json.data as EditedLinksResource, errors: json.errors as Record<string, string> }
  }
  const read = async (ws: TestWorkspace, id: number): Promise<LinkResource> =>
    (await ws.api(`/links/${id}`)).json.data
  /** Clicks and leads aside, what an undo brings back. */
  const settings = ({ updatedAt: _, ...link }: LinkResource) => link

  test.each<[string, object, Partial<LinkResource>]>([
    [
      'the destination',
      { destinationUrl: 'https://new.example/x' },
      { destinationUrl: 'https://new.example/x' },
    ],
    [
      'a part of the destination',
      { replace: { find: 'old.example', with: 'new.example' } },
      { destinationUrl: 'https://new.example/a?utm_source=x' },
    ],
    ['a part that goes', { replace: { find: '?utm_source=x', with: '' } }, { destinationUrl: `${U}a` }],
    [
      'UTM values',
      { utmSource: null, utmMedium: 'email', utmCampaign: 'Spring sale' },
      { destinationUrl: `${U}a?utm_medium=email&utm_campaign=Spring+sale` },
    ],
    [
      'a part and UTM values',
      { replace: { find: '/a', with: '/b' }, utmSource: 'y' },
      { destinationUrl: `${U}b?utm_source=y` },
    ],
    [
      'the end',
      { expiresAt: '2031-01-01T00:00:00Z', expiredUrl: 'https://over.example/' },
      { expiresAt: '2031-01-01T00:00:00.000Z', expiredUrl: 'https://over.example/' },
    ],
    ['the archive', { archived: true }, { archived: true }],
  ])('sets %s, and takes it back', async (_, changes, expected) => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({
      destinationUrl: `${U}a?utm_source=x`,
      expiresAt: '2020-01-01T00:00:00Z',
    })
    const { status, data } = await send(ws, { ids: [link.id, link.id], changes })
    expect([status, data.failed, data.unchanged, data.changed.length]).toEqual([200, [], [], 1])
    expect(data.changed[0]).toMatchObject(expected)
    expect(await read(ws, link.id)).toEqual(data.changed[0] as LinkResource)
    const again = await send(ws, { ids: [link.id], changes })
    expect([again.data.changed, again.data.undo]).toEqual([[], []])
    const undone = await send(ws, { undo: data.undo })
    expect([undone.status, undone.data.failed]).toEqual([200, []])
    expect(settings(await read(ws, link.id))).toEqual(settings(link))
  })

  test('adds and removes tags, and leaves the other tags of each link', async () => {
    const ws = await server().createWorkspace()
    const [a, b] = [await ws.createLink({ tagNames: ['a', 'own'] }), await ws.createLink({ tagNames: ['b'] })]
    const idOf = (link: LinkResource, name: string) =>
      link.tags.find((tag) => tag.name === name)?.id as number
    const changes = { addTagIds: [idOf(b, 'b')], removeTagIds: [idOf(a, 'a')] }
    const { data } = await send(ws, { ids: [a.id, b.id], changes })
    expect([data.changed[0]?.tags.map(({ name }) => name), data.unchanged]).toEqual([['b', 'own'], [b.id]])
    expect((await send(ws, { undo: data.undo })).data.failed).toEqual([])
    expect((await read(ws, a.id)).tags).toEqual(a.tags)
  })

  test('changes the others where a link cannot change, and says why', async () => {
    const ws = await server().createWorkspace()
    const other = await server().createWorkspace()
    const theirs = await other.createLink()
    const [fits, long] = [
      await ws.createLink({ destinationUrl: `${U}a` }),
      await ws.createLink({ destinationUrl: `${U}${'a'.repeat(8000)}` }),
    ]
    const replace = { find: 'a', with: 'aa' }
    const { status, data } = await send(ws, {
      ids: [long.id, theirs.id, 999_999_999, fits.id],
      changes: { replace },
    })
    expect([status, data.changed.map(({ id }) => id), data.failed]).toEqual([
      200,
      [fits.id],
      [
        { id: long.id, errors: { destinationUrl: 'must be at most 8192 characters' } },
        { id: theirs.id, errors: { id: 'Link not found' } },
        { id: 999_999_999, errors: { id: 'Link not found' } },
      ],
    ])
    expect(await read(ws, long.id)).toEqual(long)
    const bad = await send(ws, {
      ids: [fits.id],
      changes: { replace: { find: 'https', with: 'javascript' } },
    })
    expect(bad.data.failed[0]?.errors).toEqual({ destinationUrl: expect.stringContaining('http') })
    expect((await read(ws, fits.id)).updatedAt).toBe(data.changed[0]?.updatedAt as string)
  })

  test('takes nothing back from a link that somebody has changed since', async () => {
    const ws = await server().createWorkspace()
    const links = [await ws.createLink(), await ws.createLink()] as const
    const { data } = await send(ws, { ids: links.map(({ id }) => id), changes: { archived: true } })
    await ws.patch(`/links/${links[0].id}`, { title: 'Since' })
    const undone = await send(ws, { undo: data.undo })
    expect([undone.data.changed.map(({ id }) => id), undone.data.failed]).toEqual([
      [links[1].id],
      [{ id: links[0].id, errors: { link: expect.stringContaining('has changed since') } }],
    ])
    expect((await read(ws, links[0].id)).archived).toBe(true)
  })

  test.each<[object, string]>([
    [{ ids: [], changes: {} }, 'body'],
    [{ ids: [1], changes: { slug: 'x' } }, 'body'],
    [{ ids: [1], changes: { destinationUrl: U, replace: { find: 'a', with: 'b' } } }, 'body'],
    [{ ids: [1], changes: { addTagIds: [1], removeTagIds: [1] } }, 'body'],
    [{ ids: Array.from({ length: 101 }, (_, i) => i + 1), changes: { archived: true } }, 'body'],
    [{ undo: [{ id: 1 }] }, 'body'],
  ])('refuses %j', async (body) => {
    const ws = await server().createWorkspace()
    expect((await send(ws, body)).status).toBe(422)
  })
})
