import { expect, test } from 'bun:test'
import { onBothEngines, onSqlite, type TestWorkspace } from '../../../../tests/support/world.ts'
import { type LinkResource, TAG_COLORS, type TagResource } from '../schema.ts'
import { deleteUnusedTagIn } from './delete-unused-tag.ts'

const U = 'https://example.com/'
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const TAKEN = [409, { error: 'Tag name already in use' }] as const

const make = (ws: TestWorkspace, body: unknown) => ws.post('/tags', body)
const tag = async (ws: TestWorkspace, name: string): Promise<TagResource> =>
  (await make(ws, { name })).json.data
const patch = (ws: TestWorkspace, id: number, body: unknown) => ws.patch(`/tags/${id}`, body)
const all = async (ws: TestWorkspace): Promise<TagResource[]> => (await ws.api('/tags?limit=100')).json.data
const namesOn = (link: LinkResource) => link.tags.map(({ name }) => name)

/** The body of a request, and the errors in the answer. */
const REFUSED: [body: Record<string, unknown>, errors: Record<string, string>][] = [
  [{}, { name: 'is required' }],
  [{ name: null }, { name: 'must be a string' }],
  [{ name: '' }, { name: 'must not be empty' }],
  [{ name: ' \t' }, { name: 'must not be blank' }],
  [{ name: 'x'.repeat(51) }, { name: 'must be at most 50 characters' }],
  [{ name: '🙂'.repeat(51) }, { name: 'must be at most 50 characters' }],
  [{ name: 'a\0' }, { name: 'must not contain NUL or broken Unicode characters' }],
  [
    { name: 'a', color: 'black' },
    { color: 'must be one of red, orange, yellow, green, teal, blue, purple, pink, gray' },
  ],
  [{ name: 'a', links: 5 }, { links: 'is not a known field' }],
]

onBothEngines('tags', (server) => {
  test('have an id, a name, a color, a count of links and a time', async () => {
    const ws = await server().createWorkspace()
    const { status, json } = await make(ws, { name: 'Spring' })
    expect([status, json]).toEqual([
      201,
      {
        data: {
          id: expect.any(Number),
          name: 'Spring',
          color: 'gray',
          pinned: false,
          links: 0,
          createdAt: expect.stringMatching(ISO),
        },
      },
    ])
    expect(Number.isSafeInteger(json.data.id)).toBe(true)
    expect((await ws.api('/tags')).json).toEqual({ data: [json.data], nextCursor: null, total: 1 })
  })

  test('come in nine colors, and null is gray', async () => {
    const ws = await server().createWorkspace()
    expect(TAG_COLORS.join(' ')).toBe('red orange yellow green teal blue purple pink gray')
    const { id } = await tag(ws, 'colors')
    for (const color of TAG_COLORS) {
      expect((await make(ws, { name: color, color })).json.data.color).toBe(color)
      expect((await patch(ws, id, { color })).json.data.color).toBe(color)
    }
    await patch(ws, id, { color: 'red' })
    expect((await patch(ws, id, { color: null })).json.data.color).toBe('gray')
    const bare = await make(ws, { name: 'bare', color: null, pinned: null })
    expect(bare.json.data).toMatchObject({ color: 'gray', pinned: false })
  })

  test.each(
    REFUSED.map(([body, errors]) => [Object.entries(errors).flat().join(' '), body, errors] as const),
  )('are refused where the %s', async (_, body, errors) => {
    const ws = await server().createWorkspace()
    const created = await make(ws, body)
    expect([created.status, created.json.errors]).toEqual([422, errors])
    expect(await all(ws)).toEqual([])
    if (!('name' in body)) return
    const kept = await tag(ws, 'kept')
    const changed = await patch(ws, kept.id, body)
    expect([changed.status, changed.json.errors]).toEqual([422, errors])
    expect(await all(ws)).toEqual([kept])
  })

  test('have names of up to 50 characters, stored as typed without spaces around them', async () => {
    const ws = await server().createWorkspace()
    for (const name of ['x', 'y'.repeat(50), '🙂'.repeat(50), "Ünï, 'quoted' & <b>"])
      expect((await tag(ws, name)).name).toBe(name)
    expect((await tag(ws, '  padded ')).name).toBe('padded')
    expect((await make(ws, { name: 'padded' })).status).toBe(409)
  })

  test('have names unique in the workspace without regard to case', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const cafe = await tag(ws, 'Café')
    const second = await tag(ws, 'second')
    for (const name of ['Café', 'CAFÉ', 'cafe\u0301', ' café ']) {
      const created = await make(ws, { name })
      expect([name, created.status, created.json]).toEqual([name, ...TAKEN])
      const renamed = await patch(ws, second.id, { name, color: 'red' })
      expect([name, renamed.status, renamed.json]).toEqual([name, ...TAKEN])
    }
    expect(await all(ws)).toEqual([second, cafe])
    expect((await patch(ws, cafe.id, { name: 'CAFÉ' })).json.data.name).toBe('CAFÉ')
    expect((await make(other, { name: 'café' })).status).toBe(201)
    await ws.delete(`/tags/${cafe.id}`)
    expect((await make(ws, { name: 'café' })).status).toBe(201)
  })

  test('keep absent fields, and do not change after an empty change', async () => {
    const ws = await server().createWorkspace()
    const before = (await make(ws, { name: 'a', color: 'blue' })).json.data
    for (const body of [{}, undefined]) {
      const { status, json } = await patch(ws, before.id, body)
      expect([status, json.data]).toEqual([200, before])
    }
    expect((await patch(ws, before.id, { name: 'b' })).json.data).toEqual({ ...before, name: 'b' })
    expect((await patch(ws, before.id, { color: 'red' })).json.data).toEqual({
      ...before,
      name: 'b',
      color: 'red',
    })
  })

  test('are listed newest first, searched, and read page by page', async () => {
    const ws = await server().createWorkspace()
    const made = []
    for (const name of ['50%', 'a_b', 'Größe', 'back\\slash', 'plain']) made.unshift(await tag(ws, name))
    expect(await all(ws)).toEqual(made)
    const search = async (text: string) =>
      (await ws.api(`/tags?search=${encodeURIComponent(text)}`)).json.data.map(
        ({ name }: TagResource) => name,
      )
    for (const [text, names] of [
      ['%', ['50%']],
      ['_', ['a_b']],
      ['\\', ['back\\slash']],
      ['GRÖẞE', ['Größe']],
      ['grosse', ['Größe']],
      ['Öß', ['Größe']],
      ['pläin', ['plain']],
      ['\u0308', []],
      ['A', ['plain', 'back\\slash', 'a_b']],
      ['nothing', []],
    ] as const)
      expect([text, await search(text)]).toEqual([text, names])
    const first = (await ws.api('/tags?limit=2')).json
    await tag(ws, 'between')
    const second = (await ws.api(`/tags?limit=2&cursor=${first.nextCursor}`)).json
    const third = (await ws.api(`/tags?limit=2&cursor=${second.nextCursor}`)).json
    expect([...first.data, ...second.data, ...third.data]).toEqual(made)
    expect([first.total, second.total, third.nextCursor]).toEqual([5, 6, null])
    for (const query of [
      'limit=0',
      'limit=101',
      'cursor=x',
      `cursor=${Buffer.from('["tags createdAt desc","a",1]').toString('base64url')}`,
      'sort=name',
    ])
      expect([query, (await ws.api(`/tags?${query}`)).status]).toEqual([query, 422])
  })
})

onSqlite('pinned tags', (server) => {
  test('are found by themselves, and a workspace has thirty of them', async () => {
    const ws = await server().createWorkspace()
    const plain = await tag(ws, 'plain')
    expect(plain.pinned).toBe(false)
    const pinned = (await make(ws, { name: 'pinned', pinned: true })).json.data
    const list = async (query: string) =>
      (await ws.api(`/tags?${query}`)).json.data.map(({ name }: TagResource) => name)
    expect([pinned.pinned, await list('pinned=true'), await list('pinned=false')]).toEqual([
      true,
      ['pinned'],
      ['plain'],
    ])
    expect((await ws.api('/tags?pinned=yes')).status).toBe(422)
    expect((await patch(ws, pinned.id, { name: 'renamed' })).json.data.pinned).toBe(true)
    for (let n = 2; n <= 30; n++) await make(ws, { name: `${n}`, pinned: true })
    const full = [409, { error: 'A workspace has at most 30 pinned tags. Unpin one first.' }]
    for (const answer of [
      await make(ws, { name: 'more', pinned: true }),
      await patch(ws, plain.id, { pinned: true }),
    ])
      expect([answer.status, answer.json]).toEqual(full)
    expect((await patch(ws, pinned.id, { pinned: null })).json.data.pinned).toBe(false)
    expect((await patch(ws, plain.id, { pinned: true })).json.data.pinned).toBe(true)
  })
})

onBothEngines('tags on links', (server) => {
  test('are set by id, and listed by name with id, name and color only', async () => {
    const ws = await server().createWorkspace()
    const [b, a] = [await tag(ws, 'b'), await tag(ws, 'A')]
    const link = await ws.createLink({ tagIds: [b.id, a.id, b.id] })
    expect(link.tags).toEqual([a, b].map(({ id, name, color }) => ({ id, name, color })))
    const swap = await ws.patch(`/links/${link.id}`, { tagIds: [b.id] })
    expect(namesOn(swap.json.data)).toEqual(['b'])
    const kept = await ws.patch(`/links/${link.id}`, { title: 'x' })
    expect(namesOn(kept.json.data)).toEqual(['b'])
    for (const none of [{ tagIds: [] }, { tagIds: null }, { tagNames: [] }, { tagNames: null }]) {
      await ws.patch(`/links/${link.id}`, { tagIds: [a.id] })
      expect(namesOn((await ws.patch(`/links/${link.id}`, none)).json.data)).toEqual([])
    }
  })

  test('are set by name, and unknown names are created once', async () => {
    const ws = await server().createWorkspace()
    const known = (await make(ws, { name: 'Known', color: 'red' })).json.data
    const link = await ws.createLink({ tagNames: ['KNOWN', 'New', 'new', ' nEW ', 'other'] })
    expect(namesOn(link)).toEqual(['Known', 'New', 'other'])
    expect(link.tags[0]).toEqual({ id: known.id, name: 'Known', color: 'red' })
    const second = await ws.createLink({ tagNames: ['NEW'] })
    expect(second.tags).toEqual([link.tags[1]])
    expect((await all(ws)).map(({ name, color, links }) => [name, color, links]).toSorted()).toEqual([
      ['Known', 'red', 1],
      ['New', 'gray', 2],
      ['other', 'gray', 1],
    ])
  })

  test.each<[string, (theirs: number, own: number) => object, Record<string, string | RegExp>]>([
    [
      "another workspace's tag",
      (theirs, own) => ({ tagIds: [own, theirs] }),
      { tagIds: /^there is no tag \d+$/ },
    ],
    ['a tag that is not there', () => ({ tagIds: [999_999] }), { tagIds: 'there is no tag 999999' }],
    [
      'both ways at once',
      (_, own) => ({ tagIds: [own], tagNames: ['new'] }),
      { tagNames: 'cannot be combined with tagIds' },
    ],
    [
      'a name that is too long',
      () => ({ tagNames: ['new', 'x'.repeat(51)] }),
      { 'tagNames.1': 'must be at most 50 characters' },
    ],
    ['a blank name', () => ({ tagNames: ['new', ' '] }), { 'tagNames.1': 'must not be blank' }],
    ['names that are not text', () => ({ tagNames: [5] }), { 'tagNames.0': 'must be a string' }],
    ['one name without a list', () => ({ tagNames: 'new' }), { tagNames: 'must be a list of tag names' }],
    ['an id in quotes', () => ({ tagIds: ['1'] }), { 'tagIds.0': 'must be a whole number' }],
    [
      'too many',
      () => ({ tagNames: Array.from({ length: 101 }, (_, i) => `new ${i}`) }),
      { tagNames: 'must be at most 100 tags' },
    ],
  ])('create and change neither link nor tag with %s', async (_, fields, errors) => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const [theirs, own] = [await tag(other, 'theirs'), await tag(ws, 'own')]
    const link = await ws.createLink({ tagIds: [own.id] })
    const before = await all(ws)
    const matching = Object.fromEntries(
      Object.entries(errors).map(([field, words]) => [
        field,
        words instanceof RegExp ? expect.stringMatching(words) : words,
      ]),
    )
    for (const [path, method] of [
      ['/links', 'POST'],
      [`/links/${link.id}`, 'PATCH'],
    ] as const) {
      const body = {
        ...(method === 'POST' ? { destinationUrl: U } : { title: 'changed' }),
        ...fields(theirs.id, own.id),
      }
      const { status, json } = await ws.api(path, { method, body })
      expect([method, status, json.errors]).toEqual([method, 422, matching])
    }
    expect((await ws.api('/links')).json.data).toEqual([link])
    expect(await all(ws)).toEqual(before)
    expect((await all(other))[0]?.links).toBe(0)
  })

  test('are not created when the link is refused for its slug', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink()
    for (const slug of [link.slug, 'docs'])
      expect((await ws.post('/links', { destinationUrl: U, slug, tagNames: ['new'] })).status).toBe(409)
    expect(await all(ws)).toEqual([])
  })

  test('leave their links and redirects when deleted, and count no deleted links', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ tagNames: ['going', 'staying'] })
    const archived = await ws.createLink({ tagNames: ['staying'], archived: true })
    const find = async (name: string) => (await all(ws)).find((one) => one.name === name)
    const going = await find('going')
    const { status, json } = await ws.delete(`/tags/${going?.id}`)
    expect([status, json]).toEqual([200, { data: { ...going, links: 1 } }])
    const after = (await ws.api(`/links/${link.id}`)).json.data
    expect(after).toEqual({ ...link, tags: link.tags.filter(({ name }: TagResource) => name === 'staying') })
    expect((await server().click(link.slug)).status).toBe(302)
    expect((await ws.api(`/links?tagId=${going?.id}`)).json.data).toEqual([])
    expect((await find('staying'))?.links).toBe(2)
    await ws.delete(`/links/${archived.id}`)
    expect((await find('staying'))?.links).toBe(1)
    const another = await tag(ws, 'another')
    expect(another.id).toBeGreaterThan(Math.max(going?.id ?? 0, (await find('staying'))?.id ?? 0))
  })

  test('show a new name on their links at once', async () => {
    const ws = await server().createWorkspace()
    const link = await ws.createLink({ tagNames: ['old'] })
    await patch(ws, link.tags[0].id, { name: 'new', color: 'teal' })
    expect((await ws.api(`/links/${link.id}`)).json.data.tags).toEqual([
      { id: link.tags[0].id, name: 'new', color: 'teal' },
    ])
  })
})

onSqlite('a tag that an import has created', (server) => {
  test('goes while nobody has used or changed it, and only from its own workspace', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const actor = { kind: 'operator', workspaceId: ws.id, plan: 'enterprise', keyId: null } as const
    const [unused, used, theirs] = [
      await tag(ws, 'unused'),
      await tag(ws, 'used'),
      await tag(other, 'theirs'),
    ]
    await ws.createLink({ tagIds: [used.id] })
    const remove = (each: { id: number; name: string; color: string }) =>
      server().app.db.write((connection) => deleteUnusedTagIn(connection, actor, each))
    const changed = [{ ...unused, name: 'other' }, { ...unused, color: 'teal' }, used]
    for (const each of changed) expect(await remove(each)).toBe(false)
    expect((await all(ws)).map(({ name }) => name).sort()).toEqual(['unused', 'used'])
    for (const gone of [unused, unused, theirs]) expect(await remove(gone)).toBe(true)
    expect((await all(ws)).map(({ name }) => name)).toEqual(['used'])
    expect((await all(other)).map(({ name }) => name)).toEqual(['theirs'])
  })
})

onBothEngines.quick('tags at the same moment', (server) => {
  test('are created once for many parallel requests with one name', async () => {
    const ws = await server().createWorkspace()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => make(ws, { name: i % 2 ? 'Race' : 'rACE' })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(
      answers.filter(({ status, json }) => status === 409 && json.error === TAKEN[1].error),
    ).toHaveLength(19)
    expect(await all(ws)).toHaveLength(1)
  })

  test('can be deleted while links get them: only later links are refused', async () => {
    const ws = await server().createWorkspace()
    const short = await tag(ws, 'short-lived')
    const answers = await Promise.all([
      ...Array.from({ length: 30 }, () => ws.post('/links', { destinationUrl: U, tagIds: [short.id] })),
      ws.delete(`/tags/${short.id}`),
    ])
    for (const { status } of answers) expect([200, 201, 422]).toContain(status)
    const made = answers.filter(({ status }) => status === 201)
    const { json } = await ws.api('/links')
    expect(json.total).toBe(made.length)
    expect(json.data.flatMap(namesOn)).toEqual([])
  })
})
