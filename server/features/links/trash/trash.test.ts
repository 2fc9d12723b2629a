import { expect, test } from 'bun:test'
import { onBothEngines, type TestServer, type TestWorkspace } from '../../../../tests/support/world.ts'
import { deleteWorkspace } from '../../accounts/workspaces/delete-workspace.ts'
import type { LinkResource, TrashedLinkResource } from '../schema.ts'
import { suspendLink } from '../suspend.ts'
import { pruneTrash } from './prune-trash.ts'

const U = 'https://example.com/'
const DAY = 86_400_000
const NOT_FOUND = [404, { error: 'Link not found' }]
const remove = { method: 'DELETE' }
const restore = { method: 'POST' }

const request = async (ws: TestWorkspace, path: string, call = {}) => {
  const { status, json } = await ws.api(path, call)
  return [status, json]
}

const readTrash = async (ws: TestWorkspace): Promise<TrashedLinkResource[]> =>
  (await ws.api('/links/trash')).json.data

const create = (ws: TestWorkspace, slug: string) =>
  request(ws, '/links', { method: 'POST', body: { destinationUrl: U, slug } })

async function createTrashed(ws: TestWorkspace, fields = {}): Promise<LinkResource> {
  const link = await ws.createLink(fields)
  await ws.api(`/links/${link.id}`, remove)
  return link
}

const redirectStatus = async (server: TestServer, slug: string) => (await server.click(slug)).status

onBothEngines('a deleted link', (server) => {
  test('waits in the trash: its slug is held for everybody, and it is gone for every other request', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const slug = `Held-${ws.id}`
    const link = await createTrashed(ws, { slug, externalId: 'crm', title: 'Spring' })
    expect(await redirectStatus(server(), slug)).toBe(404)
    const [trashed] = await readTrash(ws)
    expect(trashed).toEqual({ ...link, deletedAt: expect.any(String), purgesAt: expect.any(String) })
    expect(Date.parse(trashed?.purgesAt ?? '') - Date.parse(trashed?.deletedAt ?? '')).toBe(30 * DAY)
    expect(await readTrash(other)).toEqual([])
    const taken = [409, { error: 'Slug already in use' }]
    for (const each of [ws, other]) {
      expect(await create(each, slug.toUpperCase())).toEqual(taken)
      const { id } = await each.createLink()
      expect(await request(each, `/links/${id}`, { method: 'PATCH', body: { slug } })).toEqual(taken)
    }
    const upserted = await ws.put('/links/upsert', { destinationUrl: U, externalId: 'crm' })
    expect([upserted.status, upserted.json.data.id === link.id]).toEqual([201, false])
    expect(await request(other, `/links/${link.id}/restore`, restore)).toEqual(NOT_FOUND)
    expect(await request(other, `/links/${link.id}?permanent=true`, remove)).toEqual(NOT_FOUND)
  })

  test('returns with its settings, its tags and its clicks, and redirects at once', async () => {
    const ws = await server().createWorkspace()
    const slug = `back-${ws.id}`
    const { id } = await ws.createLink({
      slug,
      externalId: 'crm',
      tagNames: ['t'],
      title: 'x',
      password: 'p',
    })
    await ws.patch(`/links/${id}`, { password: null })
    expect(await redirectStatus(server(), slug)).toBe(302)
    await server().waitUntilShipped()
    const before: LinkResource = (await ws.api(`/links/${id}`)).json.data
    expect(before.clicks).toBe(1)
    await ws.api(`/links/${id}`, remove)
    expect(await redirectStatus(server(), slug)).toBe(404)
    const restored = await ws.api(`/links/${id}/restore`, restore)
    expect([restored.status, restored.json.data]).toEqual([200, { ...before, updatedAt: expect.any(String) }])
    expect(restored.json.data.updatedAt > before.updatedAt).toBe(true)
    expect(await redirectStatus(server(), slug)).toBe(302)
    expect((await ws.api(`/links/${id}`)).json.data).toEqual(restored.json.data)
    expect(await readTrash(ws)).toEqual([])
    expect(await request(ws, `/links/${id}/restore`, restore)).toEqual(NOT_FOUND)
  })

  test('leaves its external id to a link that has taken it meanwhile', async () => {
    const ws = await server().createWorkspace()
    const link = await createTrashed(ws, { externalId: 'crm' })
    const second = await ws.createLink({ externalId: 'crm' })
    expect((await ws.api(`/links/${link.id}/restore`, restore)).json.data.externalId).toBeNull()
    expect((await ws.api(`/links/${second.id}`)).json.data.externalId).toBe('crm')
  })

  test('is deleted for good alone or with the whole trash, which frees its slug and keeps its clicks', async () => {
    const ws = await server().createWorkspace()
    const slugs = [1, 2, 3].map((n) => `purged-${ws.id}-${n}`)
    const texts = {
      comments: 'x',
      previewTitle: 'x',
      previewDescription: 'x',
      previewImage: 'https://example.com/x',
    }
    const links = await Promise.all(slugs.map((slug) => ws.createLink({ slug, ...texts })))
    await server().click(links[0].slug)
    await ws.api(`/links/bulk?ids=${links.map(({ id }) => id)}`, remove)
    const [first] = await readTrash(ws).then((all) => all.filter(({ id }) => id === links[0].id))
    expect((await ws.api(`/links/${links[0].id}?permanent=true`, remove)).json.data).toMatchObject({
      id: first?.id,
      slug: first?.slug,
    })
    expect(await request(ws, '/links/trash', remove)).toEqual([200, { data: { purged: 2 } }])
    expect(await request(ws, '/links/trash', remove)).toEqual([200, { data: { purged: 0 } }])
    for (const { id } of links) expect(await request(ws, `/links/${id}/restore`, restore)).toEqual(NOT_FOUND)
    const rows = await server().rows('links', { workspace_id: ws.id })
    for (const { comments, preview_title, preview_description, preview_image } of rows)
      expect([comments, preview_title, preview_description, preview_image]).toEqual([null, null, null, null])
    for (const slug of slugs) expect((await create(ws, slug))[0]).toBe(201)
    await server().waitUntilShipped()
    const top = await ws.api('/analytics/clicks?groupBy=link&class=all')
    expect(top.json.data).toMatchObject([{ link: links[0].id, slug: links[0].slug, deleted: true }])
  })

  test('returns together with others, all or none', async () => {
    const ws = await server().createWorkspace()
    const [a, b, live] = [await createTrashed(ws), await createTrashed(ws), await ws.createLink()]
    const send = (ids: number[]) => ws.post('/links/restore', { ids })
    const refused = await send([a.id, live.id, b.id])
    expect([refused.status, refused.json.errors]).toEqual([404, { '1.id': 'Link not found' }])
    expect((await readTrash(ws)).map(({ id }) => id).toSorted()).toEqual([a.id, b.id])
    expect((await send([b.id, a.id, b.id])).json.data.map(({ id }: LinkResource) => id)).toEqual([b.id, a.id])
    expect(await readTrash(ws)).toEqual([])
  })

  test('is listed a page at a time, the last deleted one first', async () => {
    const ws = await server().createWorkspace()
    const ids: number[] = []
    for (let n = 0; n < 5; n++) ids.unshift((await createTrashed(ws)).id)
    const seen: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { data: LinkResource[]; nextCursor: string | null; total: number } = (
        await ws.api(`/links/trash?limit=2${cursor && `&cursor=${cursor}`}`)
      ).json
      expect(page.total).toBe(5)
      seen.push(...page.data.map(({ id }: LinkResource) => id))
      cursor = page.nextCursor
    }
    expect(seen).toEqual(ids)
  })

  test('is purged by the job when 30 days are over, and not before: then any workspace may have its slug', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const link = await createTrashed(ws, { slug: `old-${ws.id}` })
    const { db } = server().app
    const deletedAt = Date.parse((await readTrash(ws))[0]?.deletedAt ?? '')
    await pruneTrash(db, deletedAt + 30 * DAY)
    expect(await readTrash(ws)).toHaveLength(1)
    expect((await create(other, link.slug))[0]).toBe(409)
    await pruneTrash(db, deletedAt + 30 * DAY + 1)
    expect(await readTrash(ws)).toEqual([])
    expect((await create(other, link.slug))[0]).toBe(201)
    expect((await create(ws, link.slug))[0]).toBe(409)
    const events = await server().rows('audit_events', { workspace_id: ws.id, action: 'link.purged' })
    expect(events).toMatchObject([{ actor_type: 'system', action: 'link.purged' }])
  })

  test('of a workspace that is deleted frees its slug at once, from the trash too', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const links = [await createTrashed(ws), await ws.createLink()]
    await deleteWorkspace({ db: server().app.db, now: server().now }, ws.id)
    for (const { slug } of links) expect((await create(other, slug))[0]).toBe(201)
  })

  test('can be suspended in the trash: then it keeps its slug, and returns suspended', async () => {
    const ws = await server().createWorkspace()
    const { id, slug } = await createTrashed(ws)
    const { db } = server().app
    await suspendLink({ db, now: server().now, origin: U }, { domain: '', slug }, 'Phishing')
    expect((await request(ws, `/links/${id}?permanent=true`, remove))[0]).toBe(403)
    await ws.api('/links/trash', remove)
    await pruneTrash(db, server().now() + 31 * DAY)
    expect((await create(ws, slug))[0]).toBe(409)
    expect((await ws.api(`/links/${id}/restore`, restore)).json.data.suspended).toBe(true)
    expect(await redirectStatus(server(), slug)).toBe(451)
  })
})

onBothEngines('whether a slug is free', (server) => {
  test('is told with the reason, by the rules of a creation, and without a word about other workspaces', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const domain = new URL(server().origin).host
    const ask = async (slug: string) => {
      const { json } = await ws.api(`/links/slug-availability?slug=${encodeURIComponent(slug)}`)
      const { available, reason, linkId, message, ...rest } = json.data
      expect(rest).toEqual({ slug, domain })
      expect(message === null).toBe(available)
      return [available, reason, linkId]
    }
    const [mine, deleted] = [await ws.createLink({ slug: `Mine-${ws.id}` }), await createTrashed(ws)]
    const [theirs, theirDeleted] = [await other.createLink(), await createTrashed(other)]
    expect(await ask(`free-${ws.id}`)).toEqual([true, null, null])
    expect(await ask(mine.slug.toLowerCase())).toEqual([false, 'taken', mine.id])
    expect(await ask(deleted.slug)).toEqual([false, 'trash', deleted.id])
    for (const { slug } of [theirs, theirDeleted]) expect(await ask(slug)).toEqual([false, 'taken', null])
    for (const slug of ['Docs', 'robots.txt']) expect(await ask(slug)).toEqual([false, 'reserved', null])
    for (const slug of ['', 'a b', '..', 'a'.repeat(191)])
      expect(await ask(slug)).toEqual([false, 'invalid', null])
    await ws.api('/links/trash', remove)
    expect(await ask(deleted.slug)).toEqual([true, null, null])
    expect((await ws.api('/links/slug-availability?slug=a&domain=other.example')).status).toBe(422)
    expect((await ws.api('/links/slug-availability')).status).toBe(422)
  })
})
