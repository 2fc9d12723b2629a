import { afterAll, expect, test } from 'bun:test'
import { type DnsServer, startDnsServer } from '../../../../tests/support/fake-servers/dns-server.ts'
import {
  addVerifiedDomain,
  callHost,
  putLinkOnDomain,
} from '../../../../tests/support/server/verified-domain.ts'
import { createTeam } from '../../../../tests/support/users/signed-in-user.ts'
import { onBothEngines, type TestWorkspace } from '../../../../tests/support/world.ts'
import { addDomain, nextName, readDomain } from './domains.fixture.ts'

const dns: DnsServer = await startDnsServer()
afterAll(() => dns.stop())

const drop = (ws: TestWorkspace, id: number, moveTo?: string | number) =>
  ws.delete(`/domains/${id}${moveTo === undefined ? '' : `?moveTo=${moveTo}`}`)

onBothEngines('removing a domain', (server) => {
  const addOwned = async (ws: TestWorkspace, fields = {}) => {
    const name = nextName()
    return { name, id: await addVerifiedDomain(server(), ws.id, name, fields) }
  }
  const put = (ws: TestWorkspace, name: string, slug: string) => putLinkOnDomain(server(), ws, name, { slug })
  /** More than one step moves. Their slugs are `link<workspace>-0` and so on. */
  async function putMany(ws: TestWorkspace, domain: string, count: number) {
    const links = Array.from({ length: count }, (_, i) => ({
      destinationUrl: 'https://example.com/',
      slug: `link${ws.id}-${i}`,
    }))
    for (let at = 0; at < count; at += 100) await ws.post('/links/bulk', links.slice(at, at + 100))
    await server().update('links', { workspace_id: ws.id }, { domain })
  }
  const listPlaces = (ws: TestWorkspace) =>
    server()
      .app.db.read.selectFrom('links')
      .select(['domain', 'slug', 'slug_key'])
      .where('workspace_id', '=', ws.id)
      .orderBy('slug')
      .execute()

  test('needs it to be empty: links in the trash count, links deleted for good do not', async () => {
    const ws = await server().createWorkspace()
    const { name, id } = await addOwned(ws)
    const [kept, trashed] = [await put(ws, name, 'kept'), await put(ws, name, 'trashed')]
    await ws.delete(`/links/${trashed}`)
    expect((await readDomain(ws, { id })).links).toBe(1)
    const refused = await drop(ws, id)
    expect([refused.status, refused.json.error]).toEqual([
      409,
      `${name} has 2 links, 1 of them in the trash. Delete them for good, or move them with moveTo (in a terminal --move-to): the id of another domain, or default.`,
    ])
    expect(server().app.domains.get(name)?.workspaceId).toBe(ws.id)
    await ws.delete(`/links/bulk?ids=${kept},${trashed}&permanent=true`)
    expect((await drop(ws, id)).status).toBe(200)
    expect(server().app.domains.get(name)).toBeUndefined()
    expect((await ws.api(`/domains/${id}`)).status).toBe(404)
    expect((await addDomain(ws, name)).id).not.toBe(id)
  })

  test('moves its links to another domain of the workspace, or to the default domain', async () => {
    const ws = await server().createWorkspace()
    const [from, to] = [await addOwned(ws), await addOwned(ws)]
    const trashed = await put(ws, from.name, `trash${ws.id}`)
    await ws.delete(`/links/${trashed}`)
    await putMany(ws, from.name, 250)
    const { status, json } = await drop(ws, from.id, to.id)
    expect([status, json.data.domain, json.data.links]).toEqual([200, from.name, 0])
    expect((await listPlaces(ws)).every(({ domain }) => domain === to.name)).toBe(true)
    expect((await readDomain(ws, to)).links).toBe(250)
    expect((await drop(ws, to.id, 'default')).status).toBe(200)
    expect((await listPlaces(ws)).every(({ domain }) => domain === '')).toBe(true)
    expect((await callHost(server(), 'localhost', `/link${ws.id}-7`)).status).toBe(302)
  })

  test('moves nothing where a slug is taken there, and names the slugs', async () => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const [from, to] = [await addOwned(ws), await addOwned(ws)]
    for (const slug of ['one', 'two', 'three', 'docs']) await put(ws, from.name, slug)
    await put(ws, to.name, 'one')
    await put(ws, to.name, 'three')
    const places = await listPlaces(ws)
    const refused = await drop(ws, from.id, to.id)
    expect([refused.status, refused.json.error]).toEqual([
      409,
      `Nothing was moved: ${to.name} has no room for /one, /three. Change or delete these links first.`,
    ])
    await other.createLink({ slug: 'two' })
    const reserved = await drop(ws, from.id, 'default')
    expect(reserved.json.error).toContain('has no room for /docs, /two.')
    expect(await listPlaces(ws)).toEqual(places)
  })

  test('folds the case of slugs for a domain without regard to it, and refuses two that become one', async () => {
    const ws = await server().createWorkspace()
    const from = await addOwned(ws, { case_sensitive: 1 })
    const to = await addOwned(ws)
    await put(ws, from.name, 'Sale')
    const sale = await put(ws, from.name, 'other')
    const setKey = (id: number, slug: string) =>
      server().update('links', { workspace_id: ws.id, id }, { slug, slug_key: slug })
    await setKey(sale, 'SALE')
    const refused = await drop(ws, from.id, to.id)
    expect(refused.json.error).toContain('has no room for /')
    await setKey(sale, 'SOLE')
    expect((await drop(ws, from.id, to.id)).status).toBe(200)
    expect((await listPlaces(ws)).map(({ slug, slug_key }) => [slug, slug_key])).toEqual([
      ['SOLE', 'sole'],
      ['Sale', 'sale'],
    ])
  })

  test.each([
    ['itself', 'must be another domain than the removed one'],
    ['unknown', 'is not a domain of this workspace'],
    ['foreign', 'is not a domain of this workspace'],
    ['pending', 'must be a verified domain'],
    ['0', 'must be the id of a domain, or default'],
    ['', 'must be the id of a domain, or default'],
    ['-1', 'must be the id of a domain, or default'],
  ])('refuses to move links to %p', async (what, message) => {
    const [ws, other] = [await server().createWorkspace(), await server().createWorkspace()]
    const from = await addOwned(ws)
    await put(ws, from.name, 'one')
    const targets: Record<string, number> = {
      itself: from.id,
      unknown: 999_999_999,
      foreign: (await addOwned(other)).id,
      pending: (await addDomain(ws)).id,
    }
    const { status, json } = await drop(ws, from.id, targets[what] ?? what)
    expect([status, json.errors]).toEqual([422, { moveTo: message }])
    expect((await readDomain(ws, from)).links).toBe(1)
  })

  test('is for owners and keys; members may add, change and verify', async () => {
    const team = await createTeam(server())
    const asMember = (path: string, call = {}) => team.member.apiIn(team.id, path, call)
    const added = await asMember('/domains', { method: 'POST', body: { domain: nextName() } })
    expect(added.status).toBe(201)
    const path = `/domains/${added.json.data.id}`
    expect(
      (await asMember(path, { method: 'PATCH', body: { rootUrl: 'https://example.com/' } })).status,
    ).toBe(200)
    expect((await asMember(`${path}/verify`, { method: 'POST' })).status).toBe(200)
    expect((await asMember(path, { method: 'DELETE' })).status).toBe(403)
    expect((await team.owner.in(team.id).delete(path)).status).toBe(200)
  })

  test('is refused with a suspended link, which could return under the same slug', async () => {
    const ws = await server().createWorkspace()
    const [from, to] = [await addOwned(ws), await addOwned(ws)]
    const link = await put(ws, from.name, 'bad')
    await server().update('links', { workspace_id: ws.id, id: link }, { suspended_at: 1 })
    expect((await drop(ws, from.id, to.id)).status).toBe(403)
    expect((await readDomain(ws, from)).links).toBe(1)
  })
})
