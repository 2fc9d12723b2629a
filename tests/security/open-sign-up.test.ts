// `SIGNUP=open`: nothing is made before an address is proven, and no answer tells who has an account
// (docs/contract.md §16).

import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { closeMailers } from '../../server/http/mail/smtp.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { until } from '../support/until.ts'
import { signUpOverHttp } from '../support/users/sign-up.ts'
import { ENGINES, startServer, type TestServer } from '../support/world.ts'

// At most two passwords are hashed at a time, so tests are slow on a busy machine.
setDefaultTimeout(120_000)

const smtp = await startMailServer()
afterAll(async () => {
  closeMailers()
  await smtp.stop()
})

const HOUR = 60 * 60_000
const PASSWORD = 'seven quiet herons wade'

describe.each(ENGINES)('open sign-up (%s)', (engine) => {
  let server: TestServer
  beforeEach(async () => {
    smtp.mails.length = 0
    server = await startServer(engine, {
      environment: {
        SIGNUP: 'open',
        SMTP_URL: smtp.url(),
        MAIL_FROM: 'Towpath <go@towpath.example>',
        TRUST_PROXY: '127.0.0.1',
      },
    })
    await signUpOverHttp(server, { email: 'owner@boats.example' })
  })
  afterEach(() => server.close())

  const from = (network: number) => ({ 'X-Forwarded-For': `203.0.${network}.1` })
  const request = (email: string, network = 1) =>
    server.call('/api/auth/sign-up/request', { method: 'POST', body: { email }, headers: from(network) })
  const create = (email: string, confirmation: string, name = 'Bob') =>
    server.call('/api/auth/sign-up/email', {
      method: 'POST',
      body: { name, email, password: PASSWORD, confirmation },
      headers: from(9),
    })
  const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email))
  const tokenFor = async (email: string) => {
    const mail = await until('the mail', () => mailsTo(email)[0])
    return /token=(\S+)/.exec(mail.parsed.text ?? '')?.[1] as string
  }
  const count = async (table: 'users' | 'workspaces' | 'sessions') =>
    (await server.app.db.read.selectFrom(table).select('id').execute()).length

  test('makes nothing before the link of the mail is followed, and then a proven account', async () => {
    const before = [await count('users'), await count('workspaces'), await count('sessions')]
    // The request that made an account in one step before.
    const direct = await server.call('/api/auth/sign-up/email', {
      method: 'POST',
      body: { name: 'Bob', email: 'bob@people.example', password: PASSWORD },
      headers: from(1),
    })
    expect([direct.status, direct.json, direct.headers.getSetCookie()]).toEqual([200, { status: true }, []])
    const token = await tokenFor('bob@people.example')
    expect([await count('users'), await count('workspaces'), await count('sessions')]).toEqual(before)
    const kept = await server.app.db.read.selectFrom('verifications').selectAll().execute()
    expect(JSON.stringify(kept)).not.toContain(token)

    const shown = await server.call(`/api/auth/sign-up/confirmation?token=${token}`)
    expect(shown.json).toEqual({ email: 'bob@people.example' })
    expect((await create('eve@evil.example', token)).status).toBe(403)
    // Two tabs at once make one account.
    const answers = await Promise.all([1, 2].map(() => create('bob@people.example', token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await create('bob@people.example', token)).status).toBe(404)
    const bob = await server.app.db.read
      .selectFrom('users')
      .selectAll()
      .where('email', '=', 'bob@people.example')
      .execute()
    expect(bob).toMatchObject([{ email_verified: 1, founder: null }])
    expect([await count('users'), await count('workspaces')]).toEqual([2, 2])
  })

  test('ends a link after 24 hours', async () => {
    await request('bob@people.example')
    const token = await tokenFor('bob@people.example')
    server.advanceClock(24 * HOUR + 1)
    expect((await create('bob@people.example', token)).status).toBe(404)
    expect(await count('users')).toBe(1)
  })

  test('answers alike for an address with an account, and mails its owner once a day', async () => {
    const unknown = await request('bob@people.example')
    const known = await request('owner@boats.example')
    expect([known.status, known.text, [...known.headers.keys()]]).toEqual([
      unknown.status,
      unknown.text,
      [...unknown.headers.keys()],
    ])
    const reminder = await until('the reminder', () => mailsTo('owner@boats.example')[0])
    expect(reminder.parsed.subject).toBe('You have an account already')
    expect(reminder.parsed.text).not.toContain('token=')
    for (let i = 2; i < 8; i++) {
      await request('owner@boats.example', i)
      await request('bob@people.example', i)
    }
    await request('last@people.example', 8)
    await tokenFor('last@people.example')
    expect([mailsTo('owner@boats.example').length, mailsTo('bob@people.example').length]).toEqual([1, 3])
  })

  test('counts requests that succeed, by network', async () => {
    const statuses = []
    for (let i = 0; i < 12; i++) statuses.push((await request(`mass-${i}@people.example`)).status)
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429])
    expect((await request('other@people.example', 2)).status).toBe(200)
  })
})

test('open sign-up needs a mail server: the start names the remedy', async () => {
  const { ConfigError } = await import('../../server/config/setting.ts')
  const { readConfig } = await import('../../server/config/config.ts')
  let problems: string[] = []
  try {
    readConfig({ SIGNUP: 'open', DATA_DIR: `${process.env.TMPDIR ?? '/tmp'}/towpath-open-sign-up` })
  } catch (error) {
    if (error instanceof ConfigError) problems = error.problems
  }
  expect(problems).toEqual([expect.stringMatching(/^SIGNUP: .*Set SMTP_URL and MAIL_FROM/)])
})
