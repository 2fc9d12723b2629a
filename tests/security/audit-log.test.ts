// The audit log: each change that it names leaves one event with the right actor, nobody but owners reads it, and the
// application cannot change or delete an event.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'kysely'
import { createKey, revokeKey } from '../../server/features/accounts/access/keys.ts'
import { pruneAudit } from '../../server/features/accounts/audit/prune-audit.ts'
import { recordAudit } from '../../server/features/accounts/audit/record-audit.ts'
import { changePlan } from '../../server/features/accounts/workspaces/change-plan.ts'
import type { HttpAnswer, HttpCall } from '../support/server/http-call.ts'
import { until } from '../support/until.ts'
import { fillWorkspace } from '../support/users/fill-workspace.ts'
import { type SignedUpUser, signUpOverHttp } from '../support/users/sign-up.ts'
import { addToWorkspace, createSignedInUser, createTeam, type Team } from '../support/users/signed-in-user.ts'
import { onBothEngines, onSqlite, type TestServer } from '../support/world.ts'

setDefaultTimeout(120_000)

const DAY_MS = 24 * 60 * 60 * 1000

interface AuditEvent {
  id: number
  at: string
  actor: { type: string; id: number | null; name: string | null }
  action: string
  target: { type: string; id: string | null; name: string | null } | null
  ip: null
  detail: Record<string, unknown>
}

/** All events of a workspace, oldest first. */
async function readEvents(server: TestServer, workspaceId: number): Promise<AuditEvent[]> {
  const rows = await server.app.db.read
    .selectFrom('audit_events')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    at: new Date(row.at).toISOString(),
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target:
      row.target_type === null ? null : { type: row.target_type, id: row.target_id, name: row.target_name },
    ip: null,
    detail: JSON.parse(row.detail),
  }))
}

interface Scene {
  server: TestServer
  owner: SignedUpUser
  api: SignedUpUser['api']
  /** Creates something, and returns `data` of the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
  make(path: string, body: unknown): Promise<any>
}

type Change = [
  action: string,
  /** Prepares the change. @returns the request that makes it */
  prepare: (scene: Scene) => Promise<{ path: string; call?: HttpCall; status?: number }>,
  /** The members of the event beside the action and its actor. */
  event?: Partial<AuditEvent>,
]

const LINK = { destinationUrl: 'https://example.com/' }
const HOOK = { type: 'webhook', name: 'Hook', url: 'https://hooks.example/x' }
const remove = { method: 'DELETE' }
const post = (body?: unknown): HttpCall => ({ method: 'POST', body })

const CHANGES: Change[] = [
  [
    'key.created',
    async () => ({
      path: '/keys',
      call: post({ name: 'Build', scopes: ['links:read'], expiresAt: '2100-01-01T00:00:00.000Z' }),
      status: 201,
    }),
    { detail: { scopes: ['links:read'], expiresAt: '2100-01-01T00:00:00.000Z' } },
  ],
  [
    'key.revoked',
    async ({ make }) => ({ path: `/keys/${(await make('/keys', { name: 'Old' })).id}`, call: remove }),
  ],
  [
    'member.invited',
    async () => ({
      path: '/invitations',
      call: post({ email: 'guest@people.example', role: 'viewer' }),
      status: 201,
    }),
    { detail: { role: 'viewer' } },
  ],
  [
    'invitation.revoked',
    async ({ make }) => {
      const { id } = await make('/invitations', { email: 'other@people.example' })
      return { path: `/invitations/${id}`, call: remove }
    },
  ],
  [
    'member.role_changed',
    async ({ server, owner }) => {
      const max = await createSignedInUser(server, 'Max')
      await addToWorkspace(server, owner.workspaceId, max, 'member')
      return { path: `/members/${max.id}`, call: { method: 'PATCH', body: { role: 'viewer' } } }
    },
    { detail: { from: 'member', to: 'viewer' } },
  ],
  [
    'member.removed',
    async ({ server, owner }) => {
      const max = await createSignedInUser(server, 'Max')
      await addToWorkspace(server, owner.workspaceId, max, 'member')
      return { path: `/members/${max.id}`, call: remove }
    },
    { detail: { role: 'member' } },
  ],
  [
    'workspace.renamed',
    async () => ({ path: '/workspace', call: { method: 'PATCH', body: { name: 'Renamed' } } }),
  ],
  [
    'channel.created',
    async () => ({ path: '/channels', call: post(HOOK), status: 201 }),
    { detail: { type: 'webhook' } },
  ],
  [
    'channel.updated',
    async ({ make }) => ({
      path: `/channels/${(await make('/channels', HOOK)).id}`,
      call: { method: 'PATCH', body: { name: 'Other', url: 'https://hooks.example/secret-path' } },
    }),
    { detail: { fields: ['name', 'url'] } },
  ],
  [
    'channel.secret_rotated',
    async ({ make }) => ({
      path: `/channels/${(await make('/channels', HOOK)).id}/rotate-secret`,
      call: post(),
    }),
  ],
  [
    'channel.deleted',
    async ({ make }) => ({ path: `/channels/${(await make('/channels', HOOK)).id}`, call: remove }),
  ],
  [
    'form.deleted',
    async ({ make }) => ({ path: `/forms/${(await make('/forms', { name: 'F' })).formKey}`, call: remove }),
    { detail: { submissions: 0 } },
  ],
  ['link.deleted', async ({ make }) => ({ path: `/links/${(await make('/links', LINK)).id}`, call: remove })],
  [
    'link.deleted',
    async ({ make }) => {
      const ids = [(await make('/links', LINK)).id, (await make('/links', LINK)).id]
      return { path: `/links/bulk?ids=${ids}`, call: remove }
    },
    { target: null, detail: { count: 2, ids: [expect.any(String), expect.any(String)] } },
  ],
  [
    'link.undeleted',
    async ({ make, api }) => {
      const { id } = await make('/links', LINK)
      await api(`/links/${id}`, remove)
      return { path: `/links/${id}/restore`, call: post() }
    },
  ],
  [
    'link.purged',
    async ({ make, api }) => {
      const { id } = await make('/links', LINK)
      await api(`/links/${id}`, remove)
      return { path: `/links/${id}?permanent=true`, call: remove }
    },
  ],
  [
    'link.purged',
    async ({ make, api }) => {
      await api('/links/trash', remove)
      await api(`/links/${(await make('/links', LINK)).id}`, remove)
      return { path: '/links/trash', call: remove }
    },
    { target: null, detail: { count: 1, ids: [expect.any(String)] } },
  ],
  [
    'link.bulk_edited',
    async ({ make }) => {
      const { id } = await make('/links', { destinationUrl: 'https://example.com/' })
      return { path: '/links/bulk-edit', call: post({ ids: [id], changes: { archived: true } }) }
    },
    { target: null, detail: { count: 1, ids: [expect.any(String)], fields: ['archived'] } },
  ],
  [
    'tag.deleted',
    async ({ make }) => ({ path: `/tags/${(await make('/tags', { name: 'T' })).id}`, call: remove }),
  ],
  [
    'utm_template.created',
    async () => ({ path: '/utm-templates', call: post({ name: 'T1', utmTerm: 'x' }), status: 201 }),
    {},
  ],
  [
    'utm_template.updated',
    async ({ make }) => ({
      path: `/utm-templates/${(await make('/utm-templates', { name: 'T2', utmTerm: 'x' })).id}`,
      call: { method: 'PATCH', body: { utmTerm: 'y' } },
    }),
    { detail: { fields: ['utmTerm'] } },
  ],
  [
    'utm_template.deleted',
    async ({ make }) => ({
      path: `/utm-templates/${(await make('/utm-templates', { name: 'T3', utmTerm: 'x' })).id}`,
      call: remove,
    }),
    {},
  ],
  [
    'view.created',
    async () => ({ path: '/views', call: post({ name: 'V' }), status: 201 }),
    { detail: { shared: false } },
  ],
  [
    'view.updated',
    async ({ make }) => ({
      path: `/views/${(await make('/views', { name: 'V' })).id}`,
      call: { method: 'PATCH', body: { share: { password: 'hidden' } } },
    }),
    { detail: { fields: ['share'], shared: true } },
  ],
  [
    'view.deleted',
    async ({ make }) => ({ path: `/views/${(await make('/views', { name: 'V' })).id}`, call: remove }),
    { detail: { shared: false } },
  ],
  [
    'submission.deleted',
    async ({ server, owner }) => {
      const { submission } = await fillWorkspace(server, owner)
      return { path: `/submissions/${submission}`, call: remove }
    },
  ],
  [
    'submission.deleted',
    async ({ server, owner }) => {
      const { submission } = await fillWorkspace(server, owner, 'winter')
      return { path: `/submissions/bulk?ids=${submission}`, call: remove }
    },
    { target: null, detail: { count: 1, ids: [expect.any(String)] } },
  ],
  [
    'submission.erased',
    async ({ server, owner }) => {
      await fillWorkspace(server, owner, 'autumn')
      return { path: '/submissions?email=ada@example.com', call: remove }
    },
    { target: null, detail: { count: 1 } },
  ],
  [
    'submission.exported',
    async ({ make }) => ({
      path: `/forms/${(await make('/forms', { name: 'F' })).formKey}/submissions/export?format=ndjson&email=eve@example.com`,
    }),
    { detail: { format: 'ndjson', filters: ['email'] } },
  ],
  ['clicks.exported', async () => ({ path: '/analytics/clicks/export?format=csv&interval=24h' })],
  ['leads.exported', async () => ({ path: '/analytics/leads/export?format=ndjson&interval=24h' })],
  ['audit.exported', async () => ({ path: '/audit/export' }), { target: null, detail: { format: 'csv' } }],
]

onSqlite(
  'a change over HTTP',
  (server) => {
    let owner: SignedUpUser
    beforeAll(async () => {
      owner = await signUpOverHttp(server(), { name: 'Olga' })
    })

    // Every row has three values: a test function with one more parameter would get a callback.
    const changes = CHANGES.map(([action, prepare, event = {}]) => [action, prepare, event] as const)
    test.each(changes)('%s leaves one event with the person who made it', async (action, prepare, event) => {
      const make = async (path: string, body: unknown) => {
        const made = await owner.api(path, post(body))
        if (made.status !== 201) throw new Error(`${path}: ${made.status} ${made.text}`)
        return made.json.data
      }
      const { path, call, status = 200 } = await prepare({ server: server(), owner, api: owner.api, make })
      const before = (await readEvents(server(), owner.workspaceId)).length
      const answer = await owner.api(path, call)
      expect([answer.status, answer.text.slice(0, 200)]).toEqual([status, expect.any(String)])
      const added = (await readEvents(server(), owner.workspaceId)).slice(before)
      expect(added).toMatchObject([
        { action, actor: { type: 'person', id: expect.any(Number), name: owner.email }, ...event },
      ])
      // Neither a secret nor an address of a visitor is in it.
      const text = JSON.stringify(added)
      for (const secret of ['tp_', 'whsec_', 'secret-path', 'ada@example.com', 'eve@example.com']) {
        expect([secret, text.includes(secret)]).toEqual([secret, false])
      }
    })

    test('a change that changes nothing leaves no event', async () => {
      const before = (await readEvents(server(), owner.workspaceId)).length
      const workspace = (await owner.api('/workspace')).json.data
      await owner.api('/workspace', { method: 'PATCH', body: { name: workspace.name } })
      await owner.api('/submissions?email=nobody@example.com', remove)
      await owner.api('/links/999999', remove)
      await owner.api('/members/999999', remove)
      await owner.api('/audit/export', { method: 'HEAD' })
      expect((await readEvents(server(), owner.workspaceId)).length).toBe(before)
    })

    test('names a key that made the change, and the operator', async () => {
      const own = await createTeam(server())
      const link = await own.createLink()
      await own.api(`/links/${link.id}`, remove)
      const needs = { db: server().app.db, now: server().now }
      const second = await createKey(needs, own.id, 'second')
      await revokeKey(needs, second.id)
      await changePlan(needs, own.id, 'pro')
      await changePlan(needs, own.id, 'pro')
      const events = (await readEvents(server(), own.id)).slice(-4)
      expect(events.map(({ action, actor, detail }) => [action, actor.type, actor.name, detail])).toEqual([
        ['link.deleted', 'key', 'test', {}],
        ['key.created', 'operator', null, { scopes: ['*'], expiresAt: null }],
        ['key.revoked', 'operator', null, {}],
        ['workspace.plan_changed', 'operator', null, { from: 'enterprise', to: 'pro' }],
      ])
    })

    test('names the person who joins by an invitation, and the workspace that a person creates', async () => {
      const own = await createTeam(server())
      const ann = await createSignedInUser(server(), 'Ann')
      const invited = await own.owner.apiIn(
        own.id,
        '/invitations',
        post({ email: ann.email, role: 'viewer' }),
      )
      const token = new URL(invited.json.data.url).searchParams.get('token')
      expect((await ann.api('/invitations/accept', post({ token }))).status).toBe(200)
      const [joined] = (await readEvents(server(), own.id)).slice(-1)
      const actor = { type: 'person', id: ann.id, name: ann.email }
      expect(joined).toMatchObject({ action: 'member.joined', actor, detail: { role: 'viewer' } })
      const created = await ann.api('/workspaces', post({ name: 'Mine' }))
      expect(await readEvents(server(), created.json.data.id)).toMatchObject([
        { action: 'workspace.created', actor, target: { name: 'Mine' } },
      ])
    })
  },
  { environment: { SIGNUP: 'open' } },
)

onSqlite(
  'signing in',
  (server) => {
    const signIn = (email: string, password: string) =>
      server().call('/api/auth/sign-in/email', post({ email, password }))
    const readActions = async (person: SignedUpUser) =>
      (await readEvents(server(), person.workspaceId)).map(({ action, actor, detail }) => [
        action,
        actor.type,
        detail,
      ])

    test('is recorded in every workspace of the person, as are failures, ends of sessions and passwords', async () => {
      const eve = await signUpOverHttp(server())
      const second = (await eve.api('/workspaces', post({ name: 'Second' }))).json.data.id
      expect((await signIn(eve.email, eve.password)).status).toBe(200)
      expect((await signIn(eve.email, 'not the password')).status).toBe(401)
      expect((await signIn('nobody@example.com', 'not the password')).status).toBe(401)
      const failed = ['sign_in_failed', 'unknown', { count: 1 }]
      await until('the failure', async () =>
        (await readActions(eve)).some(([action]) => action === 'sign_in_failed'),
      )
      const newPassword = 'another long password'
      await eve.auth('/change-password', post({ currentPassword: eve.password, newPassword }))
      const again = await signIn(eve.email, newPassword)
      const cookie = again.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      const ended = await server().call('/api/auth/revoke-sessions', {
        method: 'POST',
        headers: { Cookie: cookie },
      })
      expect(ended.status).toBe(200)
      const signedIn = ['sign_in', 'person', { method: 'password' }]
      const end = [
        signedIn,
        failed,
        ['password_changed', 'person', {}],
        signedIn,
        ['sign_out_everywhere', 'person', {}],
      ]
      expect(await readActions(eve)).toEqual([
        ['workspace.created', 'person', { plan: 'enterprise' }],
        signedIn,
        ...end,
      ])
      const there = (await readEvents(server(), second)).map(({ action }) => action)
      expect(there).toEqual(['workspace.created', ...end.map(([action]) => action as string)])
    })

    test('a stranger who fails all day adds four events an hour', async () => {
      const victim = await signUpOverHttp(server())
      const { recordFailedSignIn, recordSignIn } = await import(
        '../../server/features/accounts/auth/sign-in-audit.ts'
      )
      const { db } = server().app
      const needs = { db, now: server().now, limiter: server().app.api.limiter }
      const readFailures = async () =>
        (await readEvents(server(), victim.workspaceId)).filter(({ action }) => action === 'sign_in_failed')
      for (let i = 0; i < 1500; i++) recordFailedSignIn(needs, victim.email)
      await until('four events', async () => (await readFailures()).length === 4)
      for (let i = 0; i < 500; i++) recordFailedSignIn(needs, victim.email)
      await signIn(victim.email, victim.password)
      const failures = await readFailures()
      expect(failures.map(({ detail }) => detail.count).sort()).toEqual([1, 10, 100, 1000])
      for (const { actor, target } of failures) {
        expect([actor.name, target?.name]).toEqual([null, victim.email])
      }
      // Those of a program that signs in all day are recorded one by one up to twenty.
      const [user] = await db.read
        .selectFrom('users')
        .select('id')
        .where('email', '=', victim.email)
        .execute()
      for (let i = 0; i < 110; i++) await recordSignIn(needs, (user as { id: number }).id, 'password')
      const signIns = (await readEvents(server(), victim.workspaceId)).filter(
        ({ action }) => action === 'sign_in',
      )
      expect(signIns.flatMap(({ detail }) => detail.count ?? [])).toEqual([100])
    })
  },
  { environment: { SIGNUP: 'open' } },
)

onBothEngines('the audit log', (server) => {
  const read = (own: Team, query = '', who = own.owner): Promise<HttpAnswer> =>
    who.apiIn(own.id, `/audit${query}`)

  test('is read by owners only: no member, no viewer, no key, no owner of another workspace', async () => {
    const own = await createTeam(server())
    const other = await createTeam(server())
    const viewer = await createSignedInUser(server(), 'Vera')
    await addToWorkspace(server(), own.id, viewer, 'viewer')
    for (const path of ['/audit', '/audit/export']) {
      expect((await own.owner.apiIn(own.id, path)).status).toBe(200)
      expect((await own.member.apiIn(own.id, path)).json).toEqual({ error: 'You may not do this' })
      const refused = await viewer.apiIn(own.id, path)
      expect([refused.status, refused.json.error]).toEqual([403, expect.stringContaining('viewer')])
      expect((await own.api(path)).status).toBe(403)
      expect((await other.owner.apiIn(own.id, path)).status).toBe(404)
      expect((await server().call(`/v1${path}`)).status).toBe(401)
    }
    const names = (await read(own)).json.data.map(({ target }: AuditEvent) => target?.name)
    expect(names).not.toContain(other.owner.email)
    expect((await read(own, '?limit=100')).text).not.toContain(other.owner.email)
  })

  test('is listed newest first, a page at a time, by action, actor and time', async () => {
    const own = await createTeam(server())
    for (const name of ['One', 'Two', 'Three']) await own.owner.apiIn(own.id, '/keys', post({ name }))
    const first = await read(own, '?limit=2')
    expect(first.json.data.map(({ target }: AuditEvent) => target?.name)).toEqual(['Three', 'Two'])
    expect(first.json.data[0]).toEqual({
      id: expect.any(Number),
      at: expect.stringMatching(/Z$/),
      actor: { type: 'person', id: own.owner.id, name: own.owner.email },
      action: 'key.created',
      target: { type: 'key', id: expect.any(String), name: 'Three' },
      ip: null,
      detail: { scopes: ['*'], expiresAt: null },
    })
    const next = await read(own, `?limit=2&cursor=${encodeURIComponent(first.json.nextCursor)}`)
    expect(next.json.data[0].target.name).toBe('One')
    expect(next.json.total).toBe(first.json.total)
    const count = async (query: string) => (await read(own, query)).json.total
    expect(await count('?action=key.created')).toBe(4)
    expect(await count(`?actor=${own.owner.email.toUpperCase()}`)).toBe(3)
    expect(await count('?actor=operator')).toBe(4)
    expect(await count('?start=2100-01-01')).toBe(0)
    expect(await count('?end=2026-01-01')).toBe(0)
    expect((await read(own, '?action=nothing')).status).toBe(422)
    expect((await read(own, '?start=2026-02-01&end=2026-01-01')).status).toBe(422)
  })

  test('is exported with inert cells, oldest first', async () => {
    const own = await createTeam(server())
    await own.owner.apiIn(own.id, '/keys', post({ name: '=1+1' }))
    const csv = await own.owner.apiIn(own.id, '/audit/export?action=key.created')
    expect(csv.headers.get('content-disposition')).toBe(`attachment; filename=audit-${own.id}.csv`)
    const lines = csv.text.split('\r\n')
    expect(lines[0]).toBe('id,at,actorType,actorId,actor,action,targetType,targetId,target,detail')
    expect(lines[2]).toContain(`,'=1+1,`)
    const ndjson = await own.owner.apiIn(own.id, '/audit/export?format=ndjson')
    const events = ndjson.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.map(({ action }) => action)).toEqual([
      'workspace.created',
      'key.created',
      'member.joined',
      'member.joined',
      'key.created',
      'audit.exported',
      'audit.exported',
    ])
  })

  describe('cannot be changed by the application', () => {
    const DENIED = /append-only/
    const write = (statement: ReturnType<typeof sql>) =>
      server().app.db.write((connection) => statement.execute(connection))

    test('neither events, nor their order, nor all of them at once', async () => {
      const own = await createTeam(server())
      const before = await readEvents(server(), own.id)
      expect(before.length).toBeGreaterThan(2)
      const { id } = own
      await expect(
        write(sql`update audit_events set action = 'sign_in' where workspace_id = ${id}`),
      ).rejects.toThrow(DENIED)
      await expect(write(sql`update audit_events set at = 0 where workspace_id = ${id}`)).rejects.toThrow(
        DENIED,
      )
      await expect(write(sql`delete from audit_events where workspace_id = ${id}`)).rejects.toThrow(DENIED)
      await expect(write(sql`delete from audit_events`)).rejects.toThrow(DENIED)
      if (server().engine === 'postgres')
        await expect(write(sql`truncate audit_events`)).rejects.toThrow(DENIED)
      expect(await readEvents(server(), own.id)).toEqual(before)
    })

    test('events go after 180 days, and with their workspace', async () => {
      const own = await createTeam(server())
      const { db } = server().app
      const record = (at: number) =>
        db.write((connection) =>
          recordAudit(connection, { kind: 'system', workspaceId: own.id }, { action: 'sign_in' }, at),
        )
      const now = server().now()
      await record(now - 181 * DAY_MS)
      await record(now - 179 * DAY_MS)
      const before = (await readEvents(server(), own.id)).length
      await pruneAudit(db, now)
      expect((await readEvents(server(), own.id)).length).toBe(before - 1)
      const name = (await own.owner.apiIn(own.id, '/workspace')).json.data.name
      const deleted = await own.owner.apiIn(own.id, `/workspace?confirm=${name}`, remove)
      expect(deleted.status).toBe(200)
      expect(await readEvents(server(), own.id)).toEqual([])
    })
  })

  test('has no event of a change that was rolled back', async () => {
    const own = await createTeam(server())
    const before = await readEvents(server(), own.id)
    // The last owner may not leave: the change and its event are undone together.
    const refused = await own.owner.apiIn(own.id, `/members/${own.owner.id}`, remove)
    expect(refused.status).toBe(409)
    const ids = [(await own.createLink()).id, 999_999_999]
    expect((await own.api(`/links/bulk?ids=${ids}`, remove)).status).toBe(404)
    expect(await readEvents(server(), own.id)).toEqual(before)
  })
})
