// Workspaces over REST: create, read, rename, delete.

import { expect, test } from 'bun:test'
import {
  addToWorkspace,
  createSignedInUser,
  createTeam,
  type SignedInUser,
} from '../../../../tests/support/users/signed-in-user.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { listOwnerEmails } from './members.ts'

onBothEngines('workspaces', (server) => {
  const made = async (who: SignedInUser, name: string) =>
    (await who.api('/workspaces', { method: 'POST', body: { name } })).json.data
  const ids = async (who: SignedInUser) => {
    const { json } = await who.api('/workspaces')
    return json.data.map(({ id }: { id: number }) => id)
  }

  test('are created with their creator as owner, and hidden from other people', async () => {
    const ada = await createSignedInUser(server(), 'Ada')
    expect((await ada.api('/workspaces')).json).toEqual({ data: [], nextCursor: null, total: 0 })
    const { status, json } = await ada.api('/workspaces', { method: 'POST', body: { name: ' Boats ' } })
    expect(status).toBe(201)
    const { publicId } = json.data
    expect(publicId).toMatch(/^ws_[2-9a-z]{16}$/)
    expect(json.data).toEqual({
      id: expect.any(Number),
      publicId,
      name: 'Boats',
      plan: 'enterprise',
      role: 'owner',
      operatesServer: expect.any(Boolean),
      requireTwoFactor: false,
      missingReportAbove: null,
      watchDestinations: false,
      keptParams: [],
      internalNetworks: [],
      ignoredReferrers: [],
      brand: { name: null, logo: null, color: null, senderName: null, replyTo: null, footer: null },
      createdAt: expect.stringMatching(/Z$/),
      requestsPerMinute: 300,
      requestsLastMinute: 0,
      members: 1,
      links: 0,
      forms: 0,
      submissions: 0,
      keys: 0,
      snippet: `<script defer src="${server().origin}/t.js" data-workspace="${publicId}"></script>`,
      keyScopes: null,
    })
    expect((await ada.apiIn(json.data.id, '/workspace')).json).toEqual(json)

    const second = await made(ada, 'Locks')
    const { id, name, plan, role, operatesServer, requireTwoFactor, createdAt } = second
    const tag = { name: 'Folder', color: 'teal', pinned: true }
    const pinned = await ada.apiIn(id, '/tags', { method: 'POST', body: tag })
    const list = (await ada.api('/workspaces')).json
    expect(list.data[1]).toEqual({
      id,
      pinnedTags: [{ id: pinned.json.data.id, name: 'Folder', color: 'teal' }],
      publicId: second.publicId,
      name,
      plan,
      role,
      operatesServer,
      requireTwoFactor,
      keptParams: [],
      createdAt,
    })
    expect(await ids(ada)).toEqual([json.data.id, id])
    const page = (await ada.api('/workspaces?limit=1')).json
    expect([page.data.length, page.total]).toEqual([1, 2])
    const rest = (await ada.api(`/workspaces?cursor=${page.nextCursor}`)).json
    expect([rest.data[0].id, rest.nextCursor]).toEqual([id, null])
    const { api } = await server().createWorkspace()
    expect((await api(`/workspaces?cursor=${(await api('/tags?limit=1')).json.nextCursor}`)).status).toBe(422)

    const eve = await createSignedInUser(server(), 'Eve')
    expect(await ids(eve)).toEqual([])
    const other = await eve.apiIn(id, '/workspace')
    expect([other.status, other.json]).toEqual([404, { error: 'Workspace not found' }])
    expect((await eve.apiIn(999_999_999, '/workspace')).text).toBe(other.text)
  })

  test('show a key its own workspace with the counts', async () => {
    const { api, id, createLink, owner } = await createTeam(server())
    await createLink()
    const gone = await createLink()
    await api(`/links/${gone.id}`, { method: 'DELETE' })
    const form = await api('/forms', { method: 'POST', body: { name: 'Contact' } })
    await fetch(form.json.data.endpoint, { method: 'POST', body: new URLSearchParams({ a: 'b' }) })
    const list = (await api('/workspaces')).json
    expect(list).toMatchObject({ data: [{ id, role: null }], nextCursor: null, total: 1 })
    const own = (await api('/workspace')).json.data
    expect(own).toMatchObject({
      id,
      role: null,
      keyScopes: ['*'],
      members: 2,
      links: 1,
      forms: 1,
      submissions: 1,
      keys: 1,
    })
    // Two links, one deletion, one form and two reads by the key. Requests of people do not count.
    expect(own.requestsLastMinute).toBe(6)
    expect((await owner.apiIn(id, '/workspace')).json.data).toEqual({
      ...own,
      role: 'owner',
      keyScopes: null,
    })
  })

  test('are renamed by owners, not by members', async () => {
    const { id, owner, member, api } = await createTeam(server())
    const rename = (who: SignedInUser, body: object) => who.apiIn(id, '/workspace', { method: 'PATCH', body })
    expect((await rename(member, { name: 'Mine' })).status).toBe(403)
    for (const name of ['', '  ', 'x'.repeat(101), null, 5]) {
      expect((await rename(owner, { name })).status).toBe(422)
    }
    expect((await api('/workspace')).json.data.name).toBe('Test')
    expect((await rename(owner, {})).json.data.name).toBe('Test')
    expect((await rename(owner, { name: 'New name' })).json.data).toMatchObject({ id, name: 'New name' })
    expect((await member.api('/workspaces')).json.data[0].name).toBe('New name')
  })

  test('lose settings that are null', async () => {
    const { id, owner } = await createTeam(server())
    const change = async (body: object) =>
      (await owner.apiIn(id, '/workspace', { method: 'PATCH', body })).json.data
    const fresh = await change({})
    const settings = {
      keptParams: ['ref'],
      internalNetworks: ['203.0.113.0/24'],
      ignoredReferrers: ['spam.example'],
      watchDestinations: true,
      missingReportAbove: 20,
    }
    expect(await change(settings)).toEqual({ ...fresh, ...settings })
    const names = [...Object.keys(settings), 'requireTwoFactor']
    expect(await change(Object.fromEntries(names.map((name) => [name, null])))).toEqual(fresh)
  })

  test('are deleted at once with everything in them, for an owner who confirms the name', async () => {
    const { id, key, api, createLink, owner, member } = await createTeam(server())
    const other = await createTeam(server())
    await addToWorkspace(server(), other.id, owner, 'member')
    const { slug } = await createLink()
    const kept = await other.createLink()
    const form = (await api('/forms', { method: 'POST', body: { name: 'Contact' } })).json.data
    await owner.apiIn(id, '/invitations', { method: 'POST', body: { email: 'new@people.example' } })
    const end = (who: SignedInUser, query: string) =>
      who.apiIn(id, `/workspace${query}`, { method: 'DELETE' })

    expect((await end(member, '?confirm=Test')).status).toBe(403)
    for (const query of ['', '?confirm=', '?confirm=test', '?confirm=Test&confirm=Test']) {
      const refused = await end(owner, query)
      expect([query, refused.status]).toEqual([query, 422])
      expect(Object.keys(refused.json.errors)).toEqual(['confirm'])
    }
    expect((await server().click(slug)).status).toBe(302)

    const ended = await end(owner, '?confirm=Test')
    expect([ended.status, ended.json.data]).toMatchObject([200, { id, name: 'Test', links: 1, members: 2 }])
    expect((await server().click(slug)).status).toBe(404)
    expect((await fetch(form.endpoint, { method: 'POST' })).status).toBe(404)
    expect((await server().call('/v1/tags', { headers: { Authorization: `Bearer ${key}` } })).status).toBe(
      401,
    )
    expect((await owner.apiIn(id, '/workspace')).json).toEqual({ error: 'Workspace not found' })
    expect(await ids(member)).toEqual([])
    expect(await ids(owner)).toEqual([other.id])
    for (const table of ['members', 'invitations', 'api_keys', 'links', 'forms'] as const) {
      const left = await server()
        .app.db.read.selectFrom(table)
        .select('workspace_id')
        .where('workspace_id', '=', id)
        .execute()
      expect([table, left]).toEqual([table, []])
    }
    expect((await server().click(kept.slug)).status).toBe(302)
    expect((await other.owner.apiIn(other.id, '/workspace')).json.data.members).toBe(3)
  })

  test('send notices to owners only', async () => {
    const { id, owner, member } = await createTeam(server())
    const needs = { db: server().app.db }
    expect(await listOwnerEmails(needs, id)).toEqual([owner.email])
    await addToWorkspace(server(), id, member, 'owner')
    expect(await listOwnerEmails(needs, id)).toEqual([owner.email, member.email])
    expect(await listOwnerEmails(needs, 999_999_999)).toEqual([])
  })

  test('refuse API keys on the routes for people, and change nothing', async () => {
    const { id, api, owner, member } = await createTeam(server())
    const before = (await api('/workspace')).json.data
    const invitation = (
      await owner.apiIn(id, '/invitations', { method: 'POST', body: { email: 'b@people.example' } })
    ).json.data
    const token = new URL(invitation.url).searchParams.get('token')
    const [own] = (await owner.apiIn(id, '/keys')).json.data
    const asked: [string, string, object?][] = [
      ['POST', '/workspaces', { name: 'x' }],
      ['PATCH', '/workspace', { name: 'x' }],
      ['DELETE', '/workspace?confirm=Test'],
      ['DELETE', '/workspace'],
      ['GET', '/members'],
      ['PATCH', `/members/${member.id}`, { role: 'owner' }],
      ['DELETE', `/members/${member.id}`],
      ['GET', '/invitations'],
      ['POST', '/invitations', { email: 'a@people.example', role: 'owner' }],
      ['POST', '/invitations', {}],
      ['POST', '/invitations/accept', { token }],
      ['DELETE', `/invitations/${invitation.id}`],
      ['GET', '/keys'],
      ['POST', '/keys', { name: 'x' }],
      ['DELETE', `/keys/${own.id}`],
    ]
    for (const [method, path, body] of asked) {
      const { status, json } = await api(path, { method, body })
      expect([method, path, status, json]).toEqual([
        method,
        path,
        403,
        { error: 'An API key may not do this: sign in' },
      ])
    }
    const after = (await api('/workspace')).json.data
    expect(after).toEqual({ ...before, requestsLastMinute: after.requestsLastMinute })
    expect((await owner.apiIn(id, '/invitations')).json.total).toBe(1)
    expect((await member.api('/workspaces')).json.data[0].role).toBe('member')
  })
})
