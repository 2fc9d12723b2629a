// Secrets and personal data go in at every door. None of them comes out in the log or in the metrics.

import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createInstallation } from '../faults/server-process.ts'
import { NAVIGATION_HEADERS } from '../support/form-requests.ts'
import { until } from '../support/until.ts'

const installation = await createInstallation(1)
afterAll(() => installation.end())

/** Each place has its own, so that a failure names the place. */
const canary = (place: string) => `canary-${place}-7Q2xZ`

/** Places whose text must have a form. */
const BOT_TOKEN = '123456789:AAcanaryBotToken7Q2xZ-abcdefghijklmn'
const ADDRESS = '203.0.113.77'

test('what people and programs send is in no log line and in no metric', async () => {
  const server = await installation.start({
    environment: {
      LOG_LEVEL: 'info',
      TRUST_PROXY: '127.0.0.1',
      METRICS_TOKEN: canary('metrics-token'),
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    },
  })
  const [key = ''] = installation.keys
  const person = {
    'X-Forwarded-For': ADDRESS,
    Cookie: `towpath_session=${canary('cookie')}.x; ${canary('cookie-name')}=1`,
    'User-Agent': `Mozilla/5.0 ${canary('user-agent')}`,
  }
  const send = (path: string, init: RequestInit = {}) =>
    fetch(server.origin + path, { redirect: 'manual', ...init, headers: { ...person, ...init.headers } })
  let requests = 0
  const api = (path: string, body?: unknown) =>
    send(`/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': canary(`idempotency-${requests++}`),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const make = async (path: string, body: unknown) => {
    const answer = await api(path, body)
    const { data } = (await answer.json()) as { data: { id: number; formKey: string } }
    expect([path, answer.status]).toEqual([path, 201])
    return data
  }

  const destinationUrl = `https://${canary('host').toLowerCase()}.example/${canary('destination')}`
  await make('/links', {
    slug: 'canary',
    destinationUrl,
    title: canary('title'),
    password: canary('password'),
  })
  const channels = [
    // Nothing listens at any of them, so that each delivery fails and is logged.
    await make('/channels', {
      type: 'webhook',
      name: canary('channel-name'),
      url: `http://127.0.0.1:9/${canary('hook-path')}?token=${canary('hook-token')}`,
    }),
    await make('/channels', {
      type: 'slack',
      name: 'Slack',
      url: 'https://hooks.slack.com/services/T000/B000/canary7Q2xZslack',
    }),
    await make('/channels', { type: 'telegram', name: 'Telegram', botToken: BOT_TOKEN, chatId: '7' }),
  ]
  const form = await make('/forms', { name: canary('form-name'), channelIds: channels.map(({ id }) => id) })

  const statuses = [
    await api(`/links?search=${canary('query')}&key=${key}`),
    await api('/links', { destinationUrl: canary('bad-body'), [canary('bad-name')]: 1 }),
    await send('/v1/links', { headers: { Authorization: `Bearer ${canary('bad-key')}` } }),
    await send(`/canary?utm_source=${canary('utm')}`, {
      headers: { Referer: `https://x.example/${canary('referrer')}` },
    }),
    await send('/canary', { method: 'POST', body: new URLSearchParams({ password: canary('guess') }) }),
    await send(`/f/${form.formKey}?q=${canary('form-query')}`, {
      method: 'POST',
      headers: { ...NAVIGATION_HEADERS, Referer: `https://x.example/?q=${canary('form-referrer')}` },
      body: new URLSearchParams({
        email: `${canary('mail')}@example.com`,
        [canary('field')]: canary('value'),
      }),
    }),
    await send('/api/auth/sign-in/email', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: server.origin },
      body: JSON.stringify({ email: `${canary('login')}@example.com`, password: canary('login-password') }),
    }),
    await send('/e', {
      method: 'POST',
      body: JSON.stringify({ w: canary('workspace'), u: canary('page'), r: '' }),
    }),
    await send('/metrics', { headers: { Authorization: `Bearer ${canary('wrong-token')}` } }),
  ].map(({ status }) => status)
  expect(statuses.filter((status) => status >= 500)).toEqual([])
  const rows = new Database(join(installation.dataDir, 'towpath.db'), { readonly: true })
  const countFailed = rows.query('select count(*) as failed from deliveries where last_error is not null')
  await until('each channel to have failed', () => (countFailed.get() as { failed: number }).failed === 3)
  rows.close()
  const metrics = await (
    await send('/metrics', { headers: { Authorization: `Bearer ${canary('metrics-token')}` } })
  ).text()
  expect(metrics).toContain('towpath_http_request_duration_seconds')
  expect(await server.stop()).toBe(0)

  const log = server.readOutput()
  expect(log.match(/"event":"(?:request|form_request)"/g)?.length).toBeGreaterThanOrEqual(8)
  for (const text of [log, metrics]) {
    expect(text.match(/[^\s"]*canary[^\s"]*/gi)?.filter((found) => found !== '/canary') ?? []).toEqual([])
    for (const secret of [key, ADDRESS, BOT_TOKEN])
      expect([secret, text.includes(secret)]).toEqual([secret, false])
  }
}, 240_000)
