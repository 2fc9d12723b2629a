// Replies to senders, through the endpoint, the outbox and a real mail server.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import {
  BEHIND_PROXY,
  createTestForm,
  listStoredSubmissions,
  postToForm,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { ENGINES, startServer, type TestServer } from '../../../../tests/support/server/test-server.ts'
import { until } from '../../../../tests/support/until.ts'

describe.each(ENGINES)('replies to senders (%s)', (engine) => {
  let server: TestServer
  let mail: Awaited<ReturnType<typeof startMailServer>>
  beforeAll(async () => {
    mail = await startMailServer()
    server = await startServer(engine, {
      environment: {
        ...BEHIND_PROXY.environment,
        SMTP_URL: mail.url(),
        MAIL_FROM: 'Towpath <go@towpath.example>',
      },
    })
  }, 120_000)
  afterAll(async () => {
    await server?.close()
    await mail?.stop()
  })
  beforeEach(() => {
    mail.mails.length = 0
  })

  test('a valid address gets the filled template once', async () => {
    const form = await createTestForm(server, {
      reply: { subject: 'Thanks, {{name}}', text: 'Hello {{name}},\nwe got: {{message}}', confirm: false },
    })
    const body = new URLSearchParams({
      name: 'Ada',
      email: 'ada@example.com',
      message: 'Hi http://evil.example',
    })
    const answer = await postToForm(server, form, URLENCODED_TYPE, String(body))
    expect(answer.status).toBe(303)
    await until('the mail', () => mail.mails.length === 1)
    const [received] = mail.mails
    expect(received?.to).toEqual(['ada@example.com'])
    expect(received?.parsed.subject).toBe('Thanks, Ada')
    expect(received?.parsed.text?.trim()).toBe('Hello Ada,\nwe got: Hi')
    expect(await listStoredSubmissions(server, form)).toHaveLength(1)
  })

  test('confirm', async () => {
    const form = await createTestForm(server, {
      reply: { subject: 'Confirm', text: 'Hello', confirm: true },
    })
    const body = new URLSearchParams({ name: 'Ada', email: 'ada@example.com' })
    await postToForm(server, form, URLENCODED_TYPE, String(body))
    await postToForm(server, form, URLENCODED_TYPE, String(body) + '&x=1')
    await until('the mail', () => mail.mails.length === 1)
    const url = /http\S+/.exec(mail.mails[0]?.parsed.text ?? '')?.[0] ?? ''
    const path = url.slice(server.origin.length)
    const page = await server.call(path)
    const done = await server.call(path, { method: 'POST' })
  })
})
