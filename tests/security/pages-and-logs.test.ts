// Types of served files, and the content of log lines about requests.

import { afterAll, expect, test } from 'bun:test'
import { LOG_FORMATS } from '../../server/lib/telemetry/log-format.ts'
import { startOtlpReceiver } from '../support/fake-servers/otlp-receiver.ts'
import { startWebhookReceiver } from '../support/fake-servers/webhook-receiver.ts'
import { readLog } from '../support/readers/read-log.ts'
import { until } from '../support/until.ts'
import { createTeam } from '../support/users/signed-in-user.ts'
import { onSqlite } from '../support/world.ts'

const FILES = [
  '/t.js',
  '/docs/reference.js',
  '/docs/theme.css',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
]

onSqlite('a browser', (server) => {
  test.each(FILES)('is told the type and the encoding of %s', async (path) => {
    const { status, headers } = await server().call(path)
    expect([status, headers.get('content-type')]).toEqual([
      200,
      `text/${path.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
    ])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })
})

onSqlite('the log line of a request', (server) => {
  async function readRequestLines(work: () => Promise<unknown>) {
    // biome-ignore lint/suspicious/noExplicitAny: lines of a log
    let lines: any[] = []
    await readLog(async (log) => {
      await work()
      lines = log.readLines()
    })
    return lines.filter(({ event }) => event === 'request')
  }

  test('says which key or which person asked, and not what for', async () => {
    const team = await createTeam(server())
    const [byKey, byPerson, byNobody] = await readRequestLines(async () => {
      await team.api('/links?search=cAnArY')
      await team.owner.apiIn(team.id, '/members')
      await server().call('/v1/links', { headers: { Authorization: 'Bearer cAnArY' } })
    })
    const about = { method: 'GET', requestId: expect.stringMatching(/^[\w-]{8,64}$/) }
    expect(byKey).toMatchObject({ ...about, path: '/v1/links', status: 200, workspaceId: team.id })
    expect(byKey.keyId).toBeGreaterThan(0)
    expect(byKey.userId).toBeUndefined()
    expect(byPerson).toMatchObject({ ...about, path: '/v1/members', status: 200, workspaceId: team.id })
    expect([byPerson.keyId, byPerson.userId]).toEqual([undefined, team.owner.id])
    expect(byNobody).toMatchObject({ ...about, status: 401 })
    expect(JSON.stringify([byKey, byPerson, byNobody])).not.toContain('cAnArY')
  })
})

const receiver = startOtlpReceiver()
const hook = startWebhookReceiver()
afterAll(() => Promise.all([receiver.stop(), hook.stop()]))

onSqlite(
  'secrets, and what strangers send,',
  (server) => {
    /** Each part of a request has the word in it. Every answer has a log line of its own: each request is slow. */
    async function sendCanaries(): Promise<number> {
      const team = await createTeam(server())
      const headers = {
        Cookie: 'towpath_session=cAnArY',
        'X-Secret': 'cAnArY',
        'User-Agent': 'cAnArY',
        Referer: 'https://cAnArY.example/?cAnArY',
        'X-Forwarded-For': '203.0.113.77',
        'X-Request-Id': 'cAnArY is no id',
        traceparent: 'cAnArY',
      }
      const post = async (path: string, body: object) =>
        (await team.api(path, { method: 'POST', body })).json.data
      const webhook = { type: 'webhook', name: 'cAnArY', url: `${hook.url}?cAnArY` }
      const channel = await post('/channels', webhook)
      const { formKey } = await post('/forms', { name: 'cAnArY', channelIds: [channel.id] })
      const { slug } = await post('/links', { destinationUrl: 'https://cAnArY.example/?q=cAnArY' })
      const before = hook.requests.length
      const body = { email: 'cAnArY@example.com', message: 'cAnArY' }
      await server().call(`/f/${formKey}?q=cAnArY`, { method: 'POST', body, headers })
      await server().call(`/f/cAnArY`, { method: 'POST', body: 'cAnArY', headers })
      for (const path of [`/${slug}?cAnArY`, `/${slug}+?cAnArY`, '/cAnArY', '/cAnArY/cAnArY?cAnArY'])
        await server().call(path, { headers })
      const signIn = { email: 'cAnArY@example.com', password: 'cAnArY cAnArY' }
      await server().call('/api/auth/sign-in/email', { method: 'POST', body: signIn, headers })
      await server().call('/v1/links?search=cAnArY', { headers: { Authorization: 'Bearer cAnArY' } })
      await team.api('/links?search=cAnArY', { headers })
      await team.api('/links', { method: 'POST', body: { destinationUrl: 'cAnArY' }, headers })
      await team.api('/analytics/clicks?utmSource=cAnArY', { headers })
      await until('the notification', () => hook.requests.length > before)
      return team.id
    }

    test.each([...LOG_FORMATS])('are in no line of the log in the format %s, and in no metric', (format) =>
      readLog(async (log) => {
        const workspaceId = await sendCanaries()
        await until('the line of the notification', () => log.readText().includes('delivery_attempt'))
        const { text } = await server().call('/metrics')
        for (const written of [log.readText(), text]) {
          expect(written).not.toMatch(/canary/i)
          expect(written).not.toContain('203.0.113.77')
          expect(written).not.toContain('127.0.0.1')
        }
        for (const event of ['request', 'form_request', 'slow_request'])
          expect(log.readText()).toContain(event)
        expect(log.readText()).toContain(String(workspaceId))
      }, format),
    )

    test('are in no trace', async () => {
      await until('a trace', () => receiver.spans.some(({ name }) => name === 'deliver webhook'))
      for (const { body } of receiver.requests) {
        expect(body).not.toMatch(/canary/i)
        expect(body).not.toMatch(/203\.0\.113\.77|127\.0\.0\.1/)
      }
    })
  },
  {
    environment: {
      SLOW_REQUEST_MS: '1',
      TRUST_PROXY: '127.0.0.1',
      WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    },
  },
)
