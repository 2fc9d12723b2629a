import { expect, test } from 'bun:test'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import {
  type HarnessWorkspace,
  notificationsOnBothEngines,
} from '../../../../tests/support/notification-harness.ts'
import { until } from '../../../../tests/support/until.ts'

const BOT = `123456789:${'Canary_'.repeat(5)}`
const SLACK = 'https://hooks.slack.com/services/T012/B345/Canarycanary'
const DISCORD = 'https://discord.com/api/webhooks/123/Canary-canary_1'
const TEAMS =
  'https://prod-1.westeurope.logic.azure.com:443/workflows/abc/triggers/manual/paths/invoke?sig=Canary'

const MATTERMOST = 'https://chat.example.com/hooks/canarycanarycanarycanarycana'
const ROCKET_CHAT =
  'https://rocket.example.com/hooks/64f1c0a1b2c3d4e5f6a7b8c9/canarycanarycanarycanarycanarycanarycana'

const GOOD: [string, Record<string, unknown>, Record<string, unknown>][] = [
  [
    'email',
    { to: ['a@example.com', 'b@example.com', 'a@example.com'] },
    { to: ['a@example.com', 'b@example.com'] },
  ],
  ['slack', { url: SLACK }, { url: 'https://hooks.slack.com/…nary' }],
  ['discord', { url: DISCORD }, { url: 'https://discord.com/…ry_1' }],
  ['telegram', { botToken: BOT, chatId: '-1001234567890' }, { chatId: '-1001234567890', url: null }],
  ['telegram', { botToken: BOT, chatId: '@leads' }, { chatId: '@leads' }],
  ['teams', { url: TEAMS }, { url: 'https://prod-1.westeurope.logic.azure.com/…nary' }],
  ['webhook', { url: 'http://hook.example:8080/hook?a=1' }, { url: 'http://hook.example:8080/hook?a=1' }],
  ['webhook', { url: 'http://127.0.0.1:8080/hook' }, { url: 'http://127.0.0.1:8080/hook' }],
  ['slack', { url: MATTERMOST }, { url: 'https://chat.example.com/…cana' }],
  ['slack', { url: ROCKET_CHAT }, { url: 'https://rocket.example.com/…cana' }],
  [
    'slack',
    { url: 'http://chat.lan:8065/team/hooks/canarycanarycanarycanaryca' },
    { url: 'http://chat.lan:8065/…ryca' },
  ],
]

const BAD: [string, Record<string, unknown>, string][] = [
  ['email', {}, 'to'],
  ['email', { to: [] }, 'to'],
  ['email', { to: ['nobody'] }, 'to.0'],
  ['email', { to: ['a@localhost'] }, 'to.0'],
  ['email', { to: ['a@example.com\r\nBcc: b@example.com'] }, 'to.0'],
  ['email', { to: Array.from({ length: 21 }, (_, i) => `a${i}@example.com`) }, 'to'],
  ['email', { to: ['a@example.com'], url: 'https://example.com/' }, 'url'],
  ['slack', {}, 'url'],
  ['slack', { url: 'https://example.com/services/T0/B0/x' }, 'url'],
  ['slack', { url: 'http://hooks.slack.com/services/T0/B0/x' }, 'url'],
  ['slack', { url: 'https://hooks.slack.com.evil.example/services/T0/B0/x' }, 'url'],
  ['slack', { url: 'https://hooks.slack.com:8443/services/T0/B0/x' }, 'url'],
  ['slack', { url: 'https://hooks.slack.com/workflows/T0/B0/x' }, 'url'],
  ['slack', { url: 'https://chat.example.com/hooks/short' }, 'url'],
  ['slack', { url: 'https://chat.example.com/api/v4/canarycanarycanarycanaryca' }, 'url'],
  ['slack', { url: 'ftp://chat.example.com/hooks/canarycanarycanarycanaryca' }, 'url'],
  ['slack', { url: 'https://hooks.slack.com/hooks/canarycanarycanarycanaryca' }, 'url'],
  ['discord', { url: 'https://discord.com/channels/1/2' }, 'url'],
  ['teams', { url: 'https://tenant.webhook.office.com/webhookb2/x' }, 'url'],
  ['teams', { url: 'https://logic.azure.com.evil.example/x' }, 'url'],
  ['telegram', { botToken: BOT }, 'chatId'],
  ['telegram', { chatId: '1' }, 'botToken'],
  ['telegram', { botToken: '1:short', chatId: '1' }, 'botToken'],
  ['telegram', { botToken: `${BOT}/../x`, chatId: '1' }, 'botToken'],
  ['telegram', { botToken: BOT, chatId: 'my chat' }, 'chatId'],
  ['webhook', { url: 'ftp://example.com/' }, 'url'],
  ['webhook', { url: 'https://user:password@example.com/' }, 'url'],
  ['webhook', { url: `https://example.com/${'x'.repeat(2100)}` }, 'url'],
  ['webhook', { url: 'https://example.com/', secret: 'whsec_mine' }, 'secret'],
  ['carrier-pigeon', { url: 'https://example.com/' }, 'type'],
]

const PRIVATE =
  'The address is in a private network. The operator of this server can allow it with WEBHOOK_ALLOW_CIDRS'

notificationsOnBothEngines('a channel', (outbox) => {
  const patch = (workspace: HarnessWorkspace, id: number, body: unknown) =>
    workspace.patch(`/channels/${id}`, body)

  test.each(GOOD)('of type %s accepts %j', async (type, given, shown) => {
    const workspace = await outbox().createWorkspace()
    const made = await workspace.post('/channels', { type, name: ' Leads ', ...given })
    expect(made.status).toBe(201)
    const { secret, ...channel } = made.json.data
    expect(channel).toEqual({
      id: expect.any(Number),
      type,
      name: 'Leads',
      to: [],
      unconfirmed: type === 'email' ? ['a@example.com', 'b@example.com'] : [],
      stopped: [],
      url: null,
      chatId: null,
      method: null,
      headers: null,
      body: null,
      events: ['submission.created'],
      filter: null,
      enabled: true,
      disabledReason: null,
      unavailableReason: null,
      failingSince: null,
      lastError: null,
      lastDeliveryAt: null,
      waiting: 0,
      oldestWaitingAt: null,
      behindSince: null,
      template: null,
      digest: null,
      quietHours: null,
      attachUpTo: 0,
      allForms: false,
      forms: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      ...shown,
    })
    if (type === 'webhook') expect(secret).toMatch(/^whsec_/)
    else expect(secret).toBeNull()
    expect((await workspace.api(`/channels/${channel.id}`)).json.data).toEqual(channel)
    expect((await workspace.api('/channels')).json).toEqual({ data: [channel], nextCursor: null, total: 1 })
  })

  test('are used by all forms and new ones, by chosen ones, or by none', async () => {
    const workspace = await outbox().createWorkspace()
    const createForm = async (body = {}) =>
      (await workspace.post('/forms', { name: 'Form', ...body })).json.data.formKey as string
    const [a, b] = [await createForm(), await createForm()]
    const listUsing = async (id: number) => {
      const { data } = (await workspace.api('/forms')).json
      return data
        .filter(({ channelIds }: { channelIds: number[] }) => channelIds.includes(id))
        .map(({ formKey }: { formKey: string }) => formKey)
        .sort()
    }
    const hook = { type: 'webhook', name: 'Hook', url: 'https://hooks.example.com/x' }
    const made = await workspace.post('/channels', { ...hook, allForms: true })
    const { id } = made.json.data
    expect(made.json.data).toMatchObject({ allForms: true, forms: 2 })
    const c = await createForm()
    const without = await createForm({ channelIds: [] })
    expect(await listUsing(id)).toEqual([a, b, c].sort())

    const change = (body: object) => workspace.patch(`/channels/${id}`, body)
    expect((await change({ allForms: false, formKeys: [b, without] })).json.data).toMatchObject({
      allForms: false,
      forms: 2,
    })
    expect(await listUsing(id)).toEqual([b, without].sort())
    await createForm()
    expect((await change({ name: 'Other' })).json.data.forms).toBe(2)
    expect((await change({ formKeys: [] })).json.data.forms).toBe(0)
    const other = await (await outbox().createWorkspace()).post('/forms', { name: 'Theirs' })
    for (const body of [
      { formKeys: ['unknown'] },
      { formKeys: [a, other.json.data.formKey] },
      { formKeys: [a], allForms: true },
    ])
      expect([body, Object.keys((await change(body)).json.errors)]).toEqual([body, ['formKeys']])
    expect(await listUsing(id)).toEqual([])
  })

  test.each(BAD)('of type %s rejects %j', async (type, given, field) => {
    const workspace = await outbox().createWorkspace()
    const { status, json } = await workspace.post('/channels', { type, name: 'Leads', ...given })
    expect(status).toBe(422)
    expect(Object.keys(json.errors)).toEqual([field])
    expect((await workspace.api('/channels')).json.total).toBe(0)
  })

  test('in a private network says which setting allows it, unless it is allowed', async () => {
    const workspace = await outbox().createWorkspace()
    const hosts = ['10.0.0.1', '[::1]', '169.254.169.254', '127.0.0.2', '0x0a000001', '192.168.1.7:8080']
    for (const host of hosts) {
      for (const type of ['webhook', 'slack']) {
        const url = `http://${host}/hooks/canarycanarycanarycanaryca`
        const { json } = await workspace.post('/channels', { type, name: 'Hook', url })
        expect([host, json.data.unavailableReason]).toEqual([host, PRIVATE])
        const allowed = await patch(workspace, json.data.id, { url: url.replace(host, '127.0.0.1') })
        expect(allowed.json.data.unavailableReason).toBeNull()
      }
    }
  })

  test('never shows its secrets, nor stores them in plain text', async () => {
    const workspace = await outbox().createWorkspace()
    const said: string[] = []
    const calls = async (path: string, method: string, body?: unknown) => {
      const answer = await workspace.api(path, { method, body })
      said.push(answer.text)
      return answer.json.data
    }
    for (const [type, given] of [...GOOD.slice(1, 6), ...GOOD.slice(8)]) {
      const { id } = await calls('/channels', 'POST', { type, name: 'Leads', ...given })
      await calls(`/channels/${id}`, 'GET')
      await calls(`/channels/${id}`, 'PATCH', { ...given, name: 'Other' })
      await calls(`/channels/${id}`, 'PATCH', {
        url: given.url,
        botToken: given.botToken,
        chatId: 'canary canary',
      })
    }
    await calls('/channels', 'GET')
    const { rows } = await sql<object>`select * from channels where workspace_id = ${workspace.id}`.execute(
      outbox().db.read,
    )
    expect(rows).toHaveLength(8)
    for (const text of [...said, JSON.stringify(rows)])
      expect(text).not.toMatch(/Canary|canarycanary|123456789:/)
  })

  test('changes the given fields only, and keeps its secrets', async () => {
    const hook = outbox().startReceiver()
    const workspace = await outbox().createWorkspace()
    const { id, secret } = await workspace.createWebhook('https://example.com/old')
    const changed = await patch(workspace, id, { name: 'New', url: hook.url, enabled: false })
    expect(changed.json.data).toMatchObject({ name: 'New', url: hook.url, enabled: false })
    expect((await patch(workspace, id, {})).json.data).toEqual(changed.json.data)
    expect((await patch(workspace, id, { enabled: null })).json.data.enabled).toBe(true)
    const wrong = [{ type: 'slack' }, { to: ['a@example.com'] }, { name: null }, { url: null }, { secret }]
    for (const body of wrong) expect((await patch(workspace, id, body)).status).toBe(422)
    await workspace.post(`/channels/${id}/test`)
    const [got] = hook.requests
    expect(new Webhook(secret).verify(got?.body ?? '', got?.headers ?? {})).toMatchObject({ type: 'test' })
  })

  test('of type webhook gets a new secret, and the old one signs for a day', async () => {
    const hook = outbox().startReceiver()
    const workspace = await outbox().createWorkspace()
    const old = await workspace.createWebhook(hook.url)
    const { status, json } = await workspace.post(`/channels/${old.id}/rotate-secret`)
    expect(status).toBe(200)
    const { secret } = json.data
    expect(json.data.id).toBe(old.id)
    expect(secret).toMatch(/^whsec_/)
    expect(secret).not.toBe(old.secret)
    const verifies = (secret: string) => {
      const { body = '', headers = {} } = hook.requests.at(-1) ?? {}
      try {
        return Boolean(new Webhook(secret).verify(body, headers))
      } catch {
        return false
      }
    }
    await workspace.post(`/channels/${old.id}/test`)
    expect([verifies(old.secret), verifies(secret)]).toEqual([true, true])
    expect(hook.requests.at(-1)?.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    outbox().clockAheadMs += 24 * 60 * 60 * 1000 + 1
    await workspace.post(`/channels/${old.id}/test`)
    expect(hook.requests.at(-1)?.headers['webhook-signature']?.split(' ')).toHaveLength(1)
    outbox().clockAheadMs = 0
    const mail = await workspace.post('/channels', { type: 'email', name: 'x', to: ['a@example.com'] })
    expect((await workspace.post(`/channels/${mail.json.data.id}/rotate-secret`)).status).toBe(422)
  })

  test('is tested at once, with one attempt that is recorded', async () => {
    const hook = outbox().startReceiver()
    const workspace = await outbox().createWorkspace()
    const { id } = await workspace.createWebhook(hook.url, { enabled: false })
    const good = await workspace.post(`/channels/${id}/test`)
    expect(good.status).toBe(200)
    expect(good.json.data).toMatchObject({
      event: 'test',
      status: 'delivered',
      submissionId: null,
      formKey: null,
      attempts: [{ outcome: 'delivered', httpStatus: 200, answer: 'ok' }],
    })
    hook.respondWith(() => new Response('nobody here', { status: 410 }))
    const bad = await workspace.post(`/channels/${id}/test`, {})
    expect(bad.status).toBe(200)
    expect(bad.json.data).toMatchObject({
      status: 'failed',
      nextAttemptAt: null,
      attempts: [{ outcome: 'refused', httpStatus: 410, answer: 'nobody here' }],
    })
    expect(hook.requests).toHaveLength(2)
    expect((await workspace.api(`/channels/${id}`)).json.data).toMatchObject({ disabledReason: null })
    expect((await workspace.post(`/channels/${id}/test`, { force: true })).status).toBe(422)
    const { json } = await workspace.post('/deliveries/retry', { since: '2020-01-01T00:00:00Z' })
    expect(json.data.retried).toBe(0)
  })

  test('is tested once for one Idempotency-Key, and blocks no other writer', async () => {
    const gate = Promise.withResolvers<void>()
    const hook = outbox().startReceiver(() => gate.promise.then(() => new Response('ok')))
    const workspace = await outbox().createWorkspace()
    const { id } = await workspace.createWebhook(hook.url)
    const testing = () => workspace.post(`/channels/${id}/test`, undefined, { 'Idempotency-Key': 'test' })
    const answers = Promise.all([testing(), testing()])
    await until('the request', () => hook.requests.length === 1)
    expect((await workspace.post('/forms', { name: 'Meanwhile' })).status).toBe(201)
    gate.resolve()
    const [first, twin] = await answers
    expect([first.status, twin.text]).toEqual([200, first.text])
    const again = await testing()
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
    expect(hook.requests).toHaveLength(1)
  })

  test('is deleted with its deliveries, and forms no longer name it', async () => {
    const workspace = await outbox().createWorkspace()
    const form = await workspace.createFormTo(
      'https://example.com/1',
      'https://example.com/2',
      'https://example.com/3',
    )
    const [one, two, three] = form.channelIds
    await workspace.submit(form)
    expect((await workspace.delete(`/channels/${two}`)).json.data.id).toBe(two)
    expect((await workspace.api(`/forms/${form.formKey}`)).json.data.channelIds).toEqual([one, three])
    expect(await workspace.listDeliveries()).toMatchObject([{ channelId: one }, { channelId: three }])
    expect((await workspace.api(`/channels/${two}`)).status).toBe(404)
  })

  test('is listed with others, a page at a time', async () => {
    const workspace = await outbox().createWorkspace()
    const ids: number[] = []
    for (let i = 0; i < 5; i++) ids.push((await workspace.createWebhook(`https://example.com/${i}`)).id)
    const seen: number[] = []
    for (let cursor = ''; ; ) {
      const { json } = await workspace.api(`/channels?limit=2${cursor}`)
      seen.push(...json.data.map(({ id }: { id: number }) => id))
      if (json.nextCursor === null) break
      cursor = `&cursor=${json.nextCursor}`
    }
    expect(seen).toEqual(ids.reverse())
    expect((await workspace.api('/channels?cursor=nonsense')).status).toBe(422)
  })
})
