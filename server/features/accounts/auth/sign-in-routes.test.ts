import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { HttpAnswer } from '../../../../tests/support/server/http-call.ts'
import { type SignedUpUser, signUpOverHttp, toCookieHeader } from '../../../../tests/support/users/sign-up.ts'
import { onBothEngines, startServer, type TestServer } from '../../../../tests/support/world.ts'
import { createPerson, type Person } from '../people.fixture.ts'

const WRONG = { error: 'Wrong email address or password' }

const signIn = (server: TestServer, email: string, password: string, address = '203.0.113.1') =>
  server.post('/api/auth/sign-in/email', { email, password }, { 'X-Forwarded-For': address })

async function timed(work: () => Promise<HttpAnswer>): Promise<[HttpAnswer, number]> {
  const started = performance.now()
  const answer = await work()
  return [answer, performance.now() - started]
}

let passed = 0

onBothEngines(
  'signing in',
  (server) => {
    let ada: SignedUpUser
    let bob: Person
    beforeAll(async () => {
      ada = await signUpOverHttp(server(), {
        name: 'Ada',
        email: 'ada@example.com',
        password: 'Übergrößen sind länger',
      })
      bob = await createPerson(server())
    })

    /** Shared limits use the database's clock, which a test cannot shift. */
    async function pass(ms: number) {
      passed += ms
      if (server().engine !== 'postgres') return
      await sql`update rate_limits set since = since - ${ms}::bigint`.execute(server().app.db.read)
    }

    test('opens a session for the right password, in an HttpOnly cookie', async () => {
      const answer = await signIn(server(), 'ADA@example.com', ada.password)
      expect([answer.status, answer.json]).toEqual([200, { status: true }])
      const cookies = answer.headers.getSetCookie()
      expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual(['towpath_session', 'towpath_device'])
      const [pair, ...attributes] = (cookies[0] as string).split('; ')
      expect(pair).toMatch(/^towpath_session=[A-Za-z0-9]{32}\.[\w%]+$/)
      expect(attributes.map((attribute) => attribute.toLowerCase()).sort()).toEqual([
        'httponly',
        'max-age=5184000',
        'path=/',
        'samesite=lax',
      ])
      const headers = { Cookie: toCookieHeader(answer) }
      expect((await server().call('/api/auth/get-session', { headers })).json.user.name).toBe('Ada')
      expect(toCookieHeader(answer)).not.toBe(ada.cookie)
    })

    test('accepts a password in another Unicode composition', async () => {
      expect((await signIn(server(), ada.email, ada.password.normalize('NFD'))).status).toBe(200)
    })

    test('puts the session token neither into the database nor into an answer', async () => {
      const token = /=(\w{32})/.exec(ada.cookie)?.[1] as string
      const tables = ['users', 'sessions', 'identities', 'verifications'] as const
      for (const table of tables) {
        const rows = await server().app.db.read.selectFrom(table).selectAll().execute()
        const kept = JSON.stringify(rows)
        expect(kept).not.toContain(token)
        expect(kept).not.toContain(ada.password)
        expect(kept).not.toMatch(/127\.0\.0\.1|203\.0\.113/)
      }
      for (const path of ['/get-session', '/list-sessions']) {
        expect((await ada.auth(path)).text).not.toContain(token)
      }
      const forged = { Cookie: ada.cookie.replace(token, token.split('').reverse().join('')) }
      expect((await server().call('/api/auth/get-session', { headers: forged })).text).toBe('null')
    })

    test('answers a wrong password and an unknown address alike, and as slowly', async () => {
      const wrong: number[] = []
      const unknown: number[] = []
      const isAsSlow = () => Math.min(...unknown) > Math.min(...wrong) / 4
      // A busy machine slows single answers down, so the quickest ones are compared. More samples bring them closer.
      for (let i = 0; i < 2 || (i < 20 && !isAsSlow()); i++) {
        const address = i < 4 ? '203.0.113.2' : `198.51.100.${i}`
        const [one, ms] = await timed(() => signIn(server(), ada.email, `wrong password ${i}`, address))
        const [other, otherMs] = await timed(() => signIn(server(), 'no@example.com', 'wrong', address))
        wrong.push(ms)
        unknown.push(otherMs)
        const { headers: a } = one
        const { headers: b } = other
        expect([one.status, one.json, toCookieHeader(one)]).toEqual([401, WRONG, ''])
        expect([other.status, other.text, [...b.keys()]]).toEqual([one.status, one.text, [...a.keys()]])
        expect(a.get('www-authenticate')).toBeNull()
      }
      // Without a hash the answer would take a fiftieth of the time.
      expect(isAsSlow()).toBe(true)
    })

    test('locks out only the client after five wrong passwords in 15 minutes, for 15 minutes', async () => {
      const guess = (address: string) => signIn(server(), bob.email, 'a wrong guess', address)
      const at = '203.0.113.3'
      // Parallel attempts get no more tries than sequential ones.
      const answers = await Promise.all(Array.from({ length: 8 }, () => guess(at)))
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(401), 429, 429, 429])
      const right = await signIn(server(), bob.email, bob.password, at)
      expect([right.status, toCookieHeader(right)]).toEqual([429, ''])
      expect(right.json.error).toMatch(/^Rate limit exceeded\. Try again in \d+ seconds\.$/)
      const wait = Number(right.headers.get('retry-after'))
      expect(wait).toBeGreaterThan(880)
      expect(wait).toBeLessThanOrEqual(900)
      expect((await signIn(server(), bob.email, bob.password, '203.0.113.4')).status).toBe(200)
      await pass(15 * 60_000 + 1)
      expect((await signIn(server(), bob.email, bob.password, at)).status).toBe(200)
    })

    test('does not limit sign-ins with the right password', async () => {
      for (let i = 0; i < 7; i++) {
        expect((await signIn(server(), bob.email, bob.password, '203.0.113.5')).status).toBe(200)
      }
    })

    test('stops one client address after twenty wrong passwords in an hour, for all accounts', async () => {
      const people: Person[] = []
      for (let i = 0; i < 6; i++) people.push(await createPerson(server()))
      // An IPv6 customer has a /64 network, which counts as one client.
      const guess = (i: number, address = `2001:db8::${i.toString(16)}`) =>
        signIn(server(), people[i % 6]?.email ?? '', 'wrong', address)
      const answers = await Promise.all(Array.from({ length: 22 }, (_, i) => guess(i)))
      expect(answers.map(({ status }) => status).sort()).toEqual([...Array(20).fill(401), 429, 429])
      expect((await guess(0, '2001:db8:0:1::1')).status).toBe(401)
      await pass(60 * 60_000 + 1)
      expect((await guess(1)).status).toBe(401)
    })

    test('answers 404 for other endpoints of Better Auth', async () => {
      for (const [method, path] of [
        ['POST', '/sign-in/social'],
        ['POST', '/update-session'],
        ['POST', '/delete-user'],
        ['GET', '/delete-user/callback'],
        ['POST', '/begin-session'],
        ['POST', '/two-factor/enable'],
        ['POST', '/two-factor/verify-totp'],
        ['GET', '/verify-email'],
        ['POST', '/send-verification-email'],
        ['POST', '/verify-password'],
        ['POST', '/set-password'],
        ['POST', '/link-social'],
        ['POST', '/unlink-account'],
        ['GET', '/list-accounts'],
        ['GET', '/account-info'],
        ['POST', '/get-access-token'],
        ['POST', '/refresh-token'],
        ['GET', '/reset-password/x'],
        ['GET', '/callback/google'],
        ['GET', '/callback/oidc'],
        ['GET', '/ok'],
        ['GET', '/error'],
        ['GET', '/reference'],
        ['GET', '/sign-in//email'],
      ] as const) {
        const body = method === 'POST' ? {} : undefined
        const { status, json } = await ada.auth(path, { method, body })
        expect([path, status, json]).toEqual([path, 404, { error: 'Not found' }])
      }
      const wrongMethod = await ada.auth('/sign-out')
      expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'POST'])
    })

    test('sends every answer with a request id, no-store and security headers', async () => {
      for (const answer of [
        await ada.auth('/get-session'),
        await ada.auth('/nowhere', { headers: { 'X-Request-Id': 'abc-12345678' } }),
        await signIn(server(), 'x@example.com', 'wrong', '203.0.113.9'),
      ]) {
        const { headers } = answer
        expect(headers.get('x-request-id')).toMatch(/^[\w-]{8,}$/)
        expect(headers.get('cache-control')).toBe('no-store')
        expect(headers.get('x-content-type-options')).toBe('nosniff')
        expect(headers.get('content-security-policy')).toContain("default-src 'none'")
        expect(headers.get('access-control-allow-origin')).toBeNull()
      }
    })

    test('refuses sign-in and sign-out from pages of other sites', async () => {
      for (const path of '/sign-in/email /sign-out /sign-up/email /reset-password /sign-in/oauth2'.split(
        ' ',
      )) {
        const headers = { 'Sec-Fetch-Site': 'cross-site' }
        const { status, json } = await ada.postAuth(path, {}, headers)
        expect([status, json]).toEqual([403, { error: 'Cross-origin request refused' }])
      }
      expect((await ada.auth('/get-session')).json).not.toBeNull()
    })
  },
  {
    environment: { TRUST_PROXY: '127.0.0.1' },
    clock: () => performance.now() + passed,
  },
)

describe('behind https', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite', { environment: { TOWPATH_URL: 'https://go.example' } })
  })
  afterAll(() => server?.close())

  test('sets cookies with the prefixes __Host- and __Secure-, for https only', async () => {
    const body = { name: 'Ada', email: 'ada@example.com', password: 'a long password' }
    const answer = await server.post('/api/auth/sign-up/email', body)
    const [cookie, device] = answer.headers.getSetCookie() as [string, string]
    expect(device).toMatch(/^__Secure-towpath_device=.*; Path=\/api\/auth; HttpOnly; SameSite=Lax; Secure$/)
    expect(cookie).toMatch(/^__Host-towpath_session=/)
    expect(cookie).toMatch(/; Secure(;|$)/i)
    expect(cookie).toMatch(/; Path=\/(;|$)/i)
    expect(cookie).not.toMatch(/domain/i)
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000')
    const plain = { Cookie: toCookieHeader(answer).replace('__Host-', '') }
    expect((await server.call('/api/auth/get-session', { headers: plain })).text).toBe('null')
    const headers = { Cookie: toCookieHeader(answer) }
    expect((await server.call('/v1/workspaces', { headers })).status).toBe(200)
    const gone = await server.post('/api/auth/sign-out', undefined, headers)
    expect(gone.headers.getSetCookie()).toEqual([
      '__Host-towpath_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure',
    ])
    expect((await server.call('/v1/workspaces', { headers })).status).toBe(401)
  })
})
