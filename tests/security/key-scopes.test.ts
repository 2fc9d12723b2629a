// API keys with scopes and an expiry, the role of a viewer, and people who use the API with their cookie: each may do
// what it says and nothing else, on every operation of the API.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { createKey } from '../../server/features/accounts/access/keys.ts'
import { apiRoute } from '../../server/http/api-route.ts'
import { KEY_SCOPES, type KeyScope } from '../../server/http/key-scope.ts'
import { listRoutes } from '../../server/http/route-table.ts'
import { documentedOperations } from '../api/openapi-document.ts'
import { OPERATION_SCOPES } from '../api/operation-scopes.ts'
import {
  createTestResources,
  getSampleRequest,
  isSessionOnly,
  toFirstBody,
  toRequestUrl,
} from '../api/sample-requests.ts'
import { quick } from '../support/suite.ts'
import {
  addToWorkspace,
  createSignedInUser,
  createTeam,
  type SignedInUser,
  type Team,
} from '../support/users/signed-in-user.ts'
import { DEAD_MAIL_SERVER, onBothEngines, onSqlite, type TestServer } from '../support/world.ts'

setDefaultTimeout(120_000)

const forKeys = documentedOperations.filter((operation) => !isSessionOnly(operation))

const testKeys = (server: () => TestServer) => {
  const needs = () => ({ db: server().app.db, now: server().now })
  const makeKey = async (id: number, scopes?: KeyScope[], expiresAt?: number) =>
    (await createKey(needs(), id, 'scoped', { scopes, expiresAt })).key
  const ask = (key: string, path: string, method = 'GET', body?: string) =>
    server().call(path, {
      method,
      body,
      headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
    })

  /** A workspace has at most 100 keys. */
  const keys = new Map<string, string>()
  const getKey = async (workspaceId: number, scopes: KeyScope[]) => {
    const name = `${workspaceId} ${scopes.join()}`
    const key = keys.get(name) ?? (await makeKey(workspaceId, scopes))
    keys.set(name, key)
    return key
  }

  quick(
    'is refused by every operation whose scope it lacks, with a sentence that names the scope',
    async () => {
      expect(forKeys.map(({ id }) => id).sort()).toEqual(Object.keys(OPERATION_SCOPES).sort())
      const own = await createTeam(server())
      const things = await createTestResources(server(), own, `w${own.id}`)
      const keyWithout = (scopes: readonly KeyScope[]) =>
        getKey(
          own.id,
          KEY_SCOPES.filter((scope) => !scopes.includes(scope)),
        )
      for (const operation of forKeys) {
        const scopes = OPERATION_SCOPES[operation.id] ?? []
        if (scopes.length === 0) continue
        const sample = getSampleRequest(operation, things)
        const { status, json } = await ask(
          await keyWithout(scopes),
          toRequestUrl(operation, sample),
          operation.method,
          toFirstBody(sample),
        )
        const noun = scopes.length === 1 ? 'scope' : 'scopes'
        const error = `This API key lacks the ${noun} ${scopes.join(' and ')}`
        expect([operation.id, status, json]).toEqual([operation.id, 403, { error }])
      }
      // Not one of them has done anything.
      expect((await own.api(`/links/${things.linkId}`)).status).toBe(200)
      expect((await own.api(`/forms/${things.formKey}`)).json.data.submissions).toBe(1)
    },
  )

  quick(
    'is let in by every operation whose scope it has, and reads its workspace with any scope',
    async () => {
      const createPlace = async () => {
        const own = await createTeam(server())
        return { own, things: await createTestResources(server(), own, `w${own.id}`) }
      }
      const kept = await createPlace()
      for (const operation of forKeys) {
        const { own, things } = operation.method === 'DELETE' ? await createPlace() : kept
        const scopes = OPERATION_SCOPES[operation.id] ?? []
        const key = await getKey(own.id, scopes.length > 0 ? [...scopes] : ['analytics:read'])
        const sample = getSampleRequest(operation, things)
        const { status, text } = await ask(
          key,
          toRequestUrl(operation, sample),
          operation.method,
          toFirstBody(sample),
        )
        expect([operation.id, status < 300, text.slice(0, 200)]).toEqual([
          operation.id,
          true,
          expect.any(String),
        ])
      }
    },
  )

  test('does not get the answer of another key by its Idempotency-Key', async () => {
    const own = await createTeam(server())
    const [writer, reader] = [await makeKey(own.id, ['links:write']), await makeKey(own.id, ['links:read'])]
    const send = (key: string) =>
      server().call('/v1/links', {
        method: 'POST',
        body: { destinationUrl: 'https://example.com/' },
        headers: { Authorization: `Bearer ${key}`, 'Idempotency-Key': 'same' },
      })
    expect((await send(writer)).status).toBe(201)
    const refused = await send(reader)
    expect([refused.status, refused.headers.get('idempotency-replayed')]).toEqual([403, null])
  })

  test('is refused after it has expired like a key that does not exist', async () => {
    const own = await createTeam(server())
    const key = await makeKey(own.id, ['*'], server().now() + 1000)
    expect((await ask(key, '/v1/workspace')).status).toBe(200)
    server().advanceClock(1001)
    const { status, json } = await ask(key, '/v1/workspace')
    expect([status, json]).toEqual([401, { error: 'Invalid API key' }])
    const listed = await own.owner.apiIn(own.id, '/keys')
    expect(Date.parse(listed.json.data[0].expiresAt)).toBeLessThanOrEqual(server().now())
  })

  test('is made by owners with scopes that exist, and with an expiry in the future', async () => {
    const own = await createTeam(server())
    const make = (body: object) => own.owner.apiIn(own.id, '/keys', { method: 'POST', body })
    const good = await make({
      name: 'A',
      scopes: ['links:write', 'links:read', 'links:read'],
      expiresAt: null,
    })
    expect([good.status, good.json.data.scopes, good.json.data.expiresAt]).toEqual([
      201,
      ['links:read', 'links:write'],
      null,
    ])
    expect((await make({ name: 'B', scopes: ['*', 'links:read'] })).json.data.scopes).toEqual(['*'])
    const wrong = [
      { scopes: [] },
      { scopes: ['links:delete'] },
      { scopes: 'links:read' },
      { expiresAt: '2020-01-01T00:00:00Z' },
      { expiresAt: 'tomorrow' },
    ]
    for (const fields of wrong) expect((await make({ name: 'C', ...fields })).status).toBe(422)
  })

  test('a route that API keys may call cannot be declared without a scope', () => {
    const route = { method: 'get', path: '/x', responses: {} } as const
    expect(() => apiRoute({ ...route, operationId: 'x' })).toThrow('declares a scope')
    expect(() => apiRoute({ ...route, operationId: 'x', by: 'keyOrPerson' })).toThrow('declares a scope')
    expect(() => apiRoute({ ...route, operationId: 'x', by: 'member', scope: 'any' })).toThrow(
      'declares a scope',
    )
    const declared = listRoutes(server().app.routes.rest).filter(({ facts }) => facts?.by.startsWith('key'))
    expect(declared.length).toBe(forKeys.length)
  })
}

onSqlite('a key with scopes', testKeys, { environment: DEAD_MAIL_SERVER })

onSqlite('a viewer', (server) => {
  /** POSTs that only look: they change nothing in the workspace. */
  const READS = ['checkForm', 'answerQuestions', 'reconcile', 'drawQr']
  /** Routes about the person, not about what is in the workspace. */
  const OWN = ['createWorkspace', 'acceptInvitation']

  quick('reads everything that a member reads, and changes nothing', async () => {
    const own = await createTeam(server())
    const vera = await createSignedInUser(server(), 'Vera')
    await addToWorkspace(server(), own.id, vera, 'viewer')
    const things = await createTestResources(server(), own, `w${own.id}`)
    for (const operation of documentedOperations) {
      const changes = operation.method !== 'GET' && !READS.includes(operation.id)
      if (OWN.includes(operation.id)) continue
      const sample = getSampleRequest(operation, things)
      const call = { method: operation.method, body: sample.bodies?.[0] }
      const path = toRequestUrl(operation, sample).slice('/v1'.length)
      const [member, viewer] = [
        changes ? undefined : await own.member.apiIn(own.id, path, call),
        await vera.apiIn(own.id, path, call),
      ]
      const expected = changes ? 403 : member?.status
      expect([operation.id, viewer.status]).toEqual([operation.id, expected as number])
      if (viewer.status === 403) continue
      // A viewer sees what a member sees, secrets too: none.
      expect(Object.keys(viewer.json?.data ?? {})).toEqual(Object.keys(member?.json?.data ?? {}))
    }
  })

  test('is told why, may leave, and becomes one by an invitation or by an owner', async () => {
    const own = await createTeam(server())
    const ann = await createSignedInUser(server(), 'Ann')
    const invited = await own.owner.apiIn(own.id, '/invitations', {
      method: 'POST',
      body: { email: ann.email, role: 'viewer' },
    })
    const token = new URL(invited.json.data.url).searchParams.get('token')
    const joined = await ann.api('/invitations/accept', { method: 'POST', body: { token } })
    expect([joined.status, joined.json.data.role]).toEqual([200, 'viewer'])
    const refused = await ann.apiIn(own.id, '/tags', { method: 'POST', body: { name: 'x' } })
    expect([refused.status, refused.json]).toEqual([
      403,
      { error: 'You are a viewer of this workspace: you can see everything here and change nothing' },
    ])
    const change = (who: SignedInUser, role: string) =>
      own.owner.apiIn(own.id, `/members/${who.id}`, { method: 'PATCH', body: { role } })
    // The new role applies from the next request.
    await change(ann, 'member')
    expect((await ann.apiIn(own.id, '/tags', { method: 'POST', body: { name: 'x' } })).status).toBe(201)
    await change(ann, 'viewer')
    expect((await ann.apiIn(own.id, '/tags', { method: 'POST', body: { name: 'y' } })).status).toBe(403)
    expect((await change(own.owner, 'viewer')).json).toEqual({ error: 'A workspace needs an owner' })
    expect((await ann.apiIn(own.id, `/members/${ann.id}`, { method: 'DELETE' })).status).toBe(200)
  })
})

onBothEngines('a person who uses the API with a cookie and no browser', (server) => {
  let pro: Team
  beforeAll(async () => {
    pro = await createTeam(server())
  })
  const setPlan = (id: number, plan: string) =>
    server().app.db.write((connection) =>
      connection.updateTable('workspaces').set({ plan }).where('id', '=', id).execute(),
    )
  /** @param headers those that a browser adds */
  const ask = (own: Team, headers: Record<string, string> = {}, path = '/tags') =>
    server().call(`/v1${path}`, {
      headers: { Cookie: own.owner.cookie, 'X-Workspace': String(own.id), ...headers },
    })

  test('needs a plan with API access, as a key does; the dashboard does not', async () => {
    const own = await createTeam(server())
    await setPlan(own.id, 'free')
    const none: Record<string, string>[] = [
      {},
      { 'Sec-Fetch-Site': 'none' },
      { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'navigate' },
      { Referer: 'https://elsewhere.example/' },
      { Referer: 'nonsense' },
    ]
    for (const headers of none) {
      for (const path of ['/tags', '/members', '/keys']) {
        const { status, json, headers: answer } = await ask(own, headers, path)
        expect([status, json.error]).toEqual([403, 'API access requires a Pro plan or higher'])
        expect(answer.get('x-ratelimit-limit')).toBe('0')
      }
    }
    expect((await ask(own, { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200)
    // Browsers leave the header out over plain http, and send the page's address.
    expect((await ask(own, { Referer: `${server().origin}/app/1/links` })).status).toBe(200)
    // The list of own workspaces is about the person.
    expect((await own.owner.api('/workspaces', { headers: { 'Sec-Fetch-Site': 'none' } })).status).toBe(200)
  })

  test('shares the limit of the plan with the keys of the workspace', async () => {
    await setPlan(pro.id, 'pro')
    for (let i = 0; i < 15; i++) {
      expect((await ask(pro)).status).toBe(200)
      expect((await pro.api('/tags')).status).toBe(200)
    }
    const { status, json, headers } = await ask(pro)
    expect([status, json.error]).toEqual([
      429,
      expect.stringMatching(/^Rate limit exceeded\. Try again in \d+ s/),
    ])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await pro.api('/tags')).status).toBe(429)
    // The dashboard goes on.
    expect((await ask(pro, { 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200)
  })
})
