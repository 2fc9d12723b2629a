// Access to /v1 with a session cookie. Access with a key is in keys.test.ts and rate-limiter.test.ts.

import { beforeAll, expect, test } from 'bun:test'
import type { HttpCall } from '../../../../tests/support/server/http-call.ts'
import { onBothEngines } from '../../../../tests/support/world.ts'
import { createPerson, type Person } from '../people.fixture.ts'
import { addMember } from '../workspaces/add-member.ts'

const LINK = { destinationUrl: 'https://example.com/' }

onBothEngines('the dashboard’s way into the API', (server) => {
  let ada: Person
  let bob: Person
  beforeAll(async () => {
    ada = await createPerson(server())
    bob = await createPerson(server())
  })

  test('gives access with a cookie and a workspace id as with a key', async () => {
    const made = await ada.api('/links', { method: 'POST', body: LINK })
    expect(made.status).toBe(201)
    const { status, json, headers } = await ada.api('/links')
    expect([status, json.total, json.data[0].id]).toEqual([200, 1, made.json.data.id])
    expect(headers.get('x-ratelimit-limit')).toBeNull()
    expect((await bob.api('/links')).json.total).toBe(0)
  })

  test('answers for another person’s workspace as for an unknown one', async () => {
    for (const id of [String(ada.workspaceId), '999999', '0', '-1', 'x', '1e0', '']) {
      const { status, text } = await bob.api('/links', { headers: { 'X-Workspace': id } })
      expect([id, status, text]).toEqual([id, 404, '{"error":"Workspace not found"}'])
    }
    const missing = await server().call('/v1/links', { headers: { Cookie: bob.cookie } })
    expect([missing.status, Object.keys(missing.json.errors)]).toEqual([422, ['X-Workspace']])
    // The list of own workspaces needs no X-Workspace.
    expect((await server().call('/v1/workspaces', { headers: { Cookie: bob.cookie } })).status).toBe(200)
  })

  test('refuses requests without key and session, and with an invalid session', async () => {
    const none = await server().call('/v1/links')
    expect([none.status, none.json, none.headers.get('www-authenticate')]).toEqual([
      401,
      { error: 'Missing API key' },
      'Bearer',
    ])
    for (const cookie of [
      'towpath_session=',
      'towpath_session=x',
      `towpath_session=${'a'.repeat(32)}.b`,
      `other=1; towpath_session=%ff`,
      `__Host-${ada.cookie}`,
    ]) {
      const headers = { Cookie: cookie, 'X-Workspace': String(ada.workspaceId) }
      const { status, json, headers: said } = await server().call('/v1/links', { headers })
      const known = !cookie.startsWith('__Host-')
      expect([cookie, status, json]).toEqual([
        cookie,
        401,
        { error: known ? 'Sign in to continue' : 'Missing API key' },
      ])
      if (known) expect(said.get('www-authenticate')).toBeNull()
    }
  })

  test('uses the key when a request has both key and cookie', async () => {
    const workspace = await server().createWorkspace()
    const both = { Authorization: `Bearer ${workspace.key}` }
    expect((await ada.api('/links', { headers: both })).json.total).toBe(0)
    const wrong = await ada.api('/links', { headers: { Authorization: 'Bearer nonsense' } })
    expect([wrong.status, wrong.json]).toEqual([401, { error: 'Invalid API key' }])
    const blank = await ada.api('/links', { headers: { Authorization: ' ' } })
    expect([blank.status, blank.json]).toEqual([401, { error: 'Missing API key' }])
  })

  test('refuses pages of other sites with a cookie, but not with a key', async () => {
    const before = (await ada.api('/links')).json.total
    const elsewhere: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
    ]
    for (const headers of elsewhere) {
      const ask = (path: string, call: HttpCall) =>
        server().call(`/v1${path}`, {
          ...call,
          headers: { Cookie: ada.cookie, 'X-Workspace': String(ada.workspaceId), ...headers },
        })
      for (const call of [{ method: 'POST', body: LINK }, { method: 'GET' }]) {
        const { status, json } = await ask('/links', call)
        expect([status, json]).toEqual([403, { error: 'Cross-origin request refused' }])
      }
      expect((await ask('/links?ids=1', { method: 'DELETE' })).status).toBe(403)
    }
    expect((await ada.api('/links')).json.total).toBe(before)
    const own = { 'Sec-Fetch-Site': 'same-origin', Origin: server().origin }
    expect((await ada.api('/links', { method: 'POST', body: LINK, headers: own })).status).toBe(201)
    const workspace = await server().createWorkspace()
    const headers = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }
    expect((await workspace.api('/links', { method: 'POST', body: LINK, headers })).status).toBe(201)
  })

  test('applies plan and plan limit to no request of the dashboard', async () => {
    await server().app.db.write((connection) =>
      connection.updateTable('workspaces').set({ plan: 'free' }).where('id', '=', bob.workspaceId).execute(),
    )
    const statuses = new Set<number>()
    for (let i = 0; i < 40; i++) statuses.add((await bob.api('/tags')).status)
    expect([...statuses]).toEqual([200])
  })

  test('does not replay an answer to another person with the same Idempotency-Key', async () => {
    const eve = await createPerson(server())
    const { workspaceId } = ada
    const needs = { db: server().app.db, now: server().now }
    await addMember(needs, { workspaceId, email: eve.email, role: 'member' })
    const once = { method: 'POST', body: LINK, headers: { 'Idempotency-Key': 'same' } }
    const first = await ada.api('/links', once)
    const again = await ada.api('/links', once)
    const other = await eve.api('/links', once, workspaceId)
    expect([first.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(again.text).toBe(first.text)
    expect([other.status, other.headers.get('idempotency-replayed')]).toEqual([201, null])
    expect(other.json.data.id).not.toBe(first.json.data.id)
  })

  test('limits a person to 600 requests a minute in one workspace', async () => {
    const cyd = await createPerson(server())
    const statuses: number[] = []
    const ask = async () => {
      while (statuses.length < 600) {
        const place = statuses.push(0) - 1
        statuses[place] = (await cyd.api('/nowhere')).status
      }
    }
    await Promise.all(Array.from({ length: 20 }, ask))
    expect(new Set(statuses)).toEqual(new Set([404]))
    const { status, headers } = await cyd.api('/links')
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ada.api('/links')).status).toBe(200)
  })
})
