// While PostgreSQL is away, users get a 503 within seconds. As soon as PostgreSQL is back, they get service again.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type PostgresServer, startPostgres } from '../../tests/support/postgres/postgres-server.ts'
import { timeQuietly } from '../../tests/support/processor-time.ts'
import { atScale, full } from '../../tests/support/suite.ts'
import { until } from '../../tests/support/until.ts'
import { startServer, type TestServer, type TestWorkspace } from '../../tests/support/world.ts'
import { createPerson } from '../features/accounts/people.fixture.ts'
import { signInAgain } from '../features/accounts/second-factor/second-factor.fixture.ts'

let postgres: PostgresServer
let server: TestServer
let workspace: TestWorkspace

beforeAll(async () => {
  postgres = await startPostgres()
  server = await startServer('sqlite', { environment: { DATABASE_URL: postgres.url } })
  workspace = await server.createWorkspace()
}, 120_000)

afterAll(async () => {
  await server?.close()
  await postgres?.end()
}, 120_000)

const ask = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
  const [{ response, text }, ms] = await timeQuietly(async () => {
    const response = await fetch(new URL(path, server.origin), {
      method,
      headers: { Authorization: `Bearer ${workspace.key}`, 'Content-Type': 'application/json', ...headers },
      body: method === 'POST' ? '{"destinationUrl":"https://example.com/"}' : undefined,
    })
    return { response, text: await response.text() }
  })
  return { status: response.status, headers: response.headers, text, ms }
}

test('PostgreSQL stopped: sign-in and sign-out answer 503, and no cookie changes', async () => {
  const { person: ada } = await signInAgain(server, await createPerson(server))
  await postgres.stop()
  const { email, password } = ada
  const post = (path: string, body?: object) => ada.auth(path, { method: 'POST', body })
  const away = [
    post('/sign-in/email', { email, password }),
    post('/change-password', { currentPassword: 'x', newPassword: password }),
    post('/sign-out'),
    ...['/get-session', '/list-sessions', '/options'].map((path) => ada.auth(path)),
    ada.api('/links'),
  ]
  for (const { status, json, headers } of await Promise.all(away)) {
    expect([status, json]).toEqual([503, { error: 'Temporarily unavailable' }])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(headers.getSetCookie()).toEqual([])
  }
  await postgres.start()
  await until('it is back', async () => (await ada.api('/links')).status === 200)
}, 120_000)

const MODES = ['fast', 'immediate'] as const

test.each(atScale<readonly (typeof MODES)[number][]>({ quick: ['immediate'], full: MODES, soak: MODES }))(
  'PostgreSQL stopped (%s): 503 within 4 s, and service after it is back',
  async (mode) => {
    expect((await ask('/v1/links', 'POST')).status).toBe(201)
    const before = JSON.parse((await ask('/v1/links')).text).total
    expect((await ask('/readyz')).status).toBe(200)

    await postgres.stop(mode)
    const away = [
      ask('/v1/links'),
      ask('/v1/links', 'POST'),
      ask('/v1/links', 'POST', { 'Idempotency-Key': `while-${mode}` }),
      ask('/v1/analytics/clicks'),
    ]
    for (const { status, headers, text, ms } of await Promise.all(away)) {
      expect([status, text]).toEqual([503, '{"error":"Temporarily unavailable"}'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(headers.get('x-request-id')).not.toBeNull()
      expect(ms).toBeLessThan(4_000)
    }
    const [ready, alive] = [await ask('/readyz'), await ask('/livez')]
    expect([ready.status, ready.headers.get('retry-after'), alive.status]).toEqual([503, '5', 200])
    expect(ready.ms).toBeLessThan(2_000)

    await postgres.start()
    await until('the same process serves again', async () => (await ask('/v1/links')).status === 200)
    expect((await ask('/readyz')).status).toBe(200)
    // Nothing that was refused has been done, and the key of the refused request is still free.
    expect(JSON.parse((await ask('/v1/links')).text).total).toBe(before)
    const again = await ask('/v1/links', 'POST', { 'Idempotency-Key': `while-${mode}` })
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, null])
  },
  120_000,
)

full(
  'while PostgreSQL restarts, requests wait or get a 503; none fails otherwise',
  async () => {
    const total = async () => JSON.parse((await ask('/v1/links')).text).total
    const before = await total()
    let restarting = true
    const restarted = postgres.restart('fast').finally(() => {
      restarting = false
    })
    const answers = []
    while (restarting) answers.push(await ask('/v1/links', 'POST'))
    await restarted
    for (const { status, headers } of answers) {
      expect([201, 503]).toContain(status)
      expect(headers.has('retry-after')).toBe(status === 503)
    }
    await until('the same process serves again', async () => (await ask('/v1/links')).status === 200)
    const made = answers.filter(({ status }) => status === 201).length
    expect((await total()) - before).toBeGreaterThanOrEqual(made)
  },
  120_000,
)
