// While PostgreSQL is away, users get a 503 within seconds. As soon as PostgreSQL is back, they get service again.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '../../tests/support/postgres/postgres-server.ts'
import { findFreePort } from '../../tests/support/processes/free-port.ts'
import { timeQuietly } from '../../tests/support/processor-time.ts'
import { until } from '../../tests/support/until.ts'
import { createApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { createKey } from '../features/accounts/access/keys.ts'
import { createWorkspace } from '../features/accounts/workspaces/create-workspace.ts'
import { listen } from '../listen.ts'
import { openServices, type Services } from '../services.ts'

let postgres: PostgresServer
let services: Services
let server: ReturnType<typeof listen>
let origin: string
let dataDir: string
let key: string

beforeAll(async () => {
  postgres = await startPostgres()
  dataDir = mkdtempSync(join(tmpdir(), 'towpath-test-'))
  const port = findFreePort()
  services = await openServices(
    readConfig({
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      DATABASE_URL: postgres.url,
      LOG_LEVEL: 'silent',
    }),
  )
  server = listen({ host: '127.0.0.1', port, fastPath: true }, createApp(services))
  origin = `http://127.0.0.1:${port}`
  const needs = { db: services.db, now: Date.now }
  const workspace = await createWorkspace(needs, { name: 'w', plan: 'enterprise' })
  key = (await createKey(needs, workspace.id, 'k')).key
}, 120_000)

afterAll(async () => {
  await server?.stop(true)
  await services?.close()
  await postgres?.end()
  if (dataDir) rmSync(dataDir, { recursive: true, force: true })
}, 120_000)

const ask = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
  const [{ response, text }, ms] = await timeQuietly(async () => {
    const response = await fetch(new URL(path, origin), {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
      body: method === 'POST' ? '{"destinationUrl":"https://example.com/"}' : undefined,
    })
    return { response, text: await response.text() }
  })
  return { status: response.status, headers: response.headers, text, ms }
}

test.each(['fast', 'immediate'] as const)(
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

test('while PostgreSQL restarts, requests wait or get a 503; none fails otherwise', async () => {
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
}, 120_000)
