// /metrics and /version answer operators only. For everybody else they are paths that do not exist.

import { describe, expect, test } from 'bun:test'
import { onSqlite, type TestServer } from '../support/world.ts'

const PATHS = ['/metrics', '/version', '/metrics/', '/version/']
const TOKEN = 'k2jd8s0qpwmz71xb'
const PROXIED = { 'X-Forwarded-For': '203.0.113.9' }

/** A stranger's view, without the parts that differ in every answer. */
async function describeAnswer(server: TestServer, path: string, headers: Record<string, string> = PROXIED) {
  const { status, text, headers: all } = await server.call(path, { headers })
  return { status, text, headers: [...all].filter(([name]) => !/^(date|x-request-id)$/.test(name)) }
}

onSqlite(
  'metrics and version',
  (server) => {
    const statuses = async (headers: Record<string, string>) =>
      (await Promise.all(PATHS.map((path) => server().call(path, { headers })))).map(({ status }) => status)
    const [OPEN, SHUT] = [PATHS.map(() => 200), PATHS.map(() => 404)]

    test('answer this machine', async () => {
      expect(await statuses({})).toEqual(OPEN)
      expect(await statuses({ Host: 'localhost' })).toEqual(OPEN)
    })

    describe('do not exist for what a proxy on this machine passes on', () => {
      test.each([
        'X-Forwarded-For',
        'X-Real-IP',
        'Forwarded',
        'Via',
        'X-Forwarded-Proto',
        'CF-Connecting-IP',
      ])('with %s', async (name) => {
        expect(await statuses({ [name]: '127.0.0.1' })).toEqual(SHUT)
      })
    })

    test('do not exist for a page that has let its name lead to this machine', async () => {
      expect(await statuses({ Host: 'attacker.example' })).toEqual(SHUT)
    })

    test('do not exist exactly like another name that is reserved', async () => {
      for (const accept of ['text/html', 'application/json']) {
        const headers = { ...PROXIED, Accept: accept }
        const unknown = await describeAnswer(server(), '/favicon.ico', headers)
        for (const path of PATHS) expect(await describeAnswer(server(), path, headers)).toEqual(unknown)
      }
    })

    test('answer the networks of METRICS_ALLOW, by the address that the trusted proxy names', async () => {
      expect(await statuses({ 'X-Forwarded-For': '198.51.100.7' })).toEqual(OPEN)
      expect(await statuses({ 'X-Forwarded-For': '198.51.100.7, 203.0.113.9' })).toEqual(SHUT)
    })

    test('answer METRICS_TOKEN from everywhere', async () => {
      expect(await statuses({ ...PROXIED, Authorization: `Bearer ${TOKEN}` })).toEqual(OPEN)
      expect(await statuses({ ...PROXIED, Authorization: `bearer ${TOKEN}` })).toEqual(OPEN)
      for (const wrong of [
        `Bearer ${TOKEN}x`,
        `Bearer ${TOKEN.slice(1)}`,
        'Bearer',
        `Basic ${TOKEN}`,
        TOKEN,
      ]) {
        expect(await statuses({ ...PROXIED, Authorization: wrong })).toEqual(SHUT)
      }
    })

    test('are kept by no cache', async () => {
      expect((await server().call('/metrics')).headers.get('cache-control')).toBe('no-store')
    })
  },
  {
    environment: { TRUST_PROXY: '127.0.0.1', METRICS_ALLOW: '198.51.100.0/24', METRICS_TOKEN: TOKEN },
  },
)

onSqlite('without settings', (server) => {
  test('metrics and version answer this machine alone', async () => {
    expect((await server().call('/metrics')).status).toBe(200)
    for (const headers of [PROXIED, { ...PROXIED, Authorization: 'Bearer undefined' }]) {
      expect((await server().call('/metrics', { headers })).status).toBe(404)
    }
  })
})
