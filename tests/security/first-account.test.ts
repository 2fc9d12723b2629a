// The first account of an installation is the operator's (docs/contract.md §16).

import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { DEMO_EMAIL } from '../../server/features/accounts/auth/demo-email.ts'
import { toSetupUrl } from '../../server/features/accounts/auth/first-account.ts'
import { createOwnedWorkspace } from '../../server/features/accounts/workspaces/create-owned-workspace.ts'
import { createUser } from '../../server/features/accounts/workspaces/create-user.ts'
import { type OidcIdentity, startIdentityProvider } from '../support/fake-servers/identity-provider.ts'
import { toCookieHeader } from '../support/users/sign-up.ts'
import { ENGINES, startServer, type TestServer } from '../support/world.ts'

// At most two passwords are hashed at a time, so tests are slow on a busy machine.
setDefaultTimeout(120_000)

const provider = startIdentityProvider()
afterAll(() => provider.close())

const SECRET = 'q8Vw2nLx7Rb4Tz9Kp3Md6Yc1Hs5Jf0Ga'
const ORIGIN = 'https://go.example'
/** A request that came through a proxy on this machine. */
const PROXIED = { 'X-Forwarded-For': '203.0.113.7' }
const TOKEN = new URL(toSetupUrl({ origin: ORIGIN, secret: SECRET })).searchParams.get('token') as string
const environment = {
  TOWPATH_SECRET: SECRET,
  OIDC_ISSUER: provider.issuer,
  OIDC_CLIENT_ID: provider.clientId,
  OIDC_CLIENT_SECRET: provider.clientSecret,
}

describe.each(ENGINES)('the first account (%s)', (engine) => {
  let server: TestServer
  beforeEach(async () => {
    server = await startServer(engine, { environment })
  })
  afterEach(() => server.close())

  const signUp = (more: object = {}, headers: Record<string, string> = {}, email = 'ada@boats.example') =>
    server.call('/api/auth/sign-up/email', {
      method: 'POST',
      body: { name: 'Ada', email, password: 'seven quiet herons wade', ...more },
      headers,
    })
  const countUsers = async () => (await server.app.db.read.selectFrom('users').select('id').execute()).length
  const readOptions = async (headers = {}) =>
    (await server.call('/api/auth/options', { headers })).json.signup

  test('is refused to a stranger, however the stranger reaches the server', async () => {
    for (const headers of [
      PROXIED,
      { 'X-Forwarded-Proto': 'https' },
      { 'X-Forwarded-Host': 'go.example' },
      { Forwarded: 'for=127.0.0.1' },
      { 'X-Real-IP': '127.0.0.1' },
      { Via: '1.1 proxy' },
    ] as Record<string, string>[]) {
      const { status, json } = await signUp({}, headers)
      expect([headers, status, json.error]).toEqual([headers, 403, expect.stringContaining('operator')])
    }
    // A page of a stranger whose name leads to 127.0.0.1.
    expect((await signUp({}, { Host: 'rebinding.example' })).status).toBe(404)
    expect([await readOptions(PROXIED), await readOptions()]).toEqual(['setup', 'first'])
    expect(await countUsers()).toBe(0)
  })

  test('is made with the token that the start prints, also through a proxy, and only once', async () => {
    const check = (token: string) => server.call(`/api/auth/setup?token=${token}`, { headers: PROXIED })
    expect([(await check('wrong')).status, (await check(TOKEN)).status]).toEqual([404, 200])
    for (const setup of ['wrong', TOKEN.slice(1), `${TOKEN}x`]) {
      expect([setup, (await signUp({ setup }, PROXIED)).status]).toEqual([setup, 403])
    }
    expect((await signUp({ setup: TOKEN }, PROXIED)).status).toBe(200)
    expect((await check(TOKEN)).status).toBe(404)
    const again = await signUp({ setup: TOKEN }, PROXIED, 'eve@evil.example')
    expect([again.status, toCookieHeader(again), await countUsers()]).toEqual([403, '', 1])
  })

  test('allows few tries of the token', async () => {
    const statuses = []
    for (let i = 0; i < 22; i++) statuses.push((await signUp({ setup: `guess ${i}` }, PROXIED)).status)
    expect(statuses).toEqual([...Array(20).fill(403), 429, 429])
  })

  test('is one, when two people are first at the same moment', async () => {
    const answers = await Promise.all([
      signUp({}, {}, 'direct@boats.example'),
      signUp({ setup: TOKEN }, PROXIED, 'token@boats.example'),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403])
    expect(await countUsers()).toBe(1)
  })

  test('is nobody’s on an installation that its operator runs with workspaces and keys', async () => {
    await server.createWorkspace()
    for (const [more, headers] of [
      [{}, {}],
      [{}, PROXIED],
      [{ setup: TOKEN }, {}],
      [{ setup: TOKEN }, PROXIED],
    ] as const) {
      const { status, json } = await signUp(more, headers)
      expect([status, json.error]).toEqual([403, expect.stringContaining('user create')])
    }
    expect([await readOptions(), await countUsers()]).toEqual(['operator', 0])
  })

  test('is nobody’s when the operator has made an account on the command line', async () => {
    await createUser({ db: server.app.db, now: server.now }, { email: 'op@boats.example' })
    expect([(await signUp()).status, (await signUp({ setup: TOKEN })).status]).toEqual([403, 403])
    expect([await readOptions(), await countUsers()]).toEqual(['invite', 1])
  })

  test('is still to be made when only the demo is there', async () => {
    const needs = server.app.api
    const demo = await createUser(needs, { email: DEMO_EMAIL })
    await createOwnedWorkspace(needs, demo.id, { name: 'Demo' })
    expect((await signUp({}, PROXIED)).status).toBe(403)
    expect((await signUp({ setup: TOKEN }, PROXIED)).status).toBe(200)
  })

  describe('at an identity provider', () => {
    const who: OidcIdentity = { sub: 'ada', email: 'ada@works.example', email_verified: true, name: 'Ada' }

    async function signInElsewhere(headers: Record<string, string>, setup?: string) {
      provider.identity = who
      const body = { providerId: 'oidc', ...(setup !== undefined && { setup }) }
      const started = await server.call('/api/auth/sign-in/oauth2', { method: 'POST', body, headers })
      if (started.status !== 200) return started
      const consented = await fetch(started.json.url, { redirect: 'manual' })
      const { pathname, search } = new URL(consented.headers.get('location') as string)
      return server.call(pathname + search, { headers: { ...headers, Cookie: toCookieHeader(started) } })
    }

    test('needs the token too', async () => {
      const refused = await signInElsewhere(PROXIED)
      expect(refused.headers.get('location')).toContain('error=sign_up_forbidden')
      expect([toCookieHeader(refused), await countUsers()]).toEqual(['', 0])
      expect((await signInElsewhere(PROXIED, 'wrong')).status).toBe(403)
      expect(toCookieHeader(await signInElsewhere(PROXIED, TOKEN))).toContain('towpath_session=')
      expect(await countUsers()).toBe(1)
    })
  })
})
