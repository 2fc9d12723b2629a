// The mail of an invitation, sent to a real SMTP server and read by a real parser.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { createTeam, type Team } from '../../../../tests/support/users/signed-in-user.ts'
import { startServer, type TestServer } from '../../../../tests/support/world.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'

describe('an invitation by mail', () => {
  let smtp: Awaited<ReturnType<typeof startMailServer>>
  let server: TestServer
  let own: Team

  beforeAll(async () => {
    smtp = await startMailServer()
    const environment = { SMTP_URL: smtp.url(), MAIL_FROM: 'Towpath <go@towpath.example>' }
    server = await startServer('sqlite', { environment })
  }, 120_000)
  afterAll(async () => {
    await server?.close()
    await smtp?.stop()
  })
  beforeEach(async () => {
    smtp.mails.length = 0
    smtp.refusing.all = false
    own = await createTeam(server)
  })

  const invite = async (email: string) =>
    (await own.owner.in(own.id).post('/invitations', { email })).json.data
  const rename = (name: string) => own.owner.in(own.id).patch('/workspace', { name })

  test('goes to the invited address only, with the link of the answer', async () => {
    const { url, mailed } = await invite('ann@people.example')
    expect(mailed).toBe(true)
    expect(smtp.mails.map(({ to }) => to)).toEqual([['ann@people.example']])
    const mail = smtp.mails[0]?.parsed
    expect(mail).toMatchObject({
      from: { name: 'Towpath', address: 'go@towpath.example' },
      to: [{ address: 'ann@people.example' }],
      subject: 'You’re invited to a workspace',
    })
    expect(mail?.text).toContain('Olga invites you to the workspace "Test"')
    expect(mail?.text).toContain(url)
    expect(url).toStartWith(`${server.origin}/app/join?token=`)
    expect(mail?.html).toBeUndefined()
  })

  test('does not use the Host of the request for its link', async () => {
    // A host without a dot is one of this server's.
    const headers = { Host: 'evil-host', 'X-Forwarded-Host': 'evil.example' }
    const call = { method: 'POST', body: { email: 'ann@people.example' }, headers }
    const { json } = await own.owner.apiIn(own.id, '/invitations', call)
    expect(json.data.url).toStartWith(server.origin)
    expect(smtp.mails[0]?.raw).not.toMatch(/evil/)
  })

  test('stays one mail with one header, whatever the name of the workspace', async () => {
    await rename('Boats\r\nBcc: eve@evil.example\r\n\r\n<script>alert(1)</script>\u202eX')
    await invite('ann@people.example')
    const mail = smtp.mails[0]?.parsed
    expect(smtp.mails[0]?.to).toEqual(['ann@people.example'])
    expect(mail?.bcc ?? []).toEqual([])
    expect(mail?.subject).toBe('You’re invited to a workspace')
    expect(mail?.text).toContain('"Boats Bcc: eve@evil.example <script>alert(1)</script> X"')
  })

  test('that the mail server refused leaves a valid invitation with its link', async () => {
    smtp.refusing.all = true
    const { url, mailed } = await invite('ann@people.example')
    expect([mailed, smtp.mails]).toEqual([false, []])
    expect(url).toContain('token=')
    expect((await own.owner.apiIn(own.id, '/invitations')).json.total).toBe(1)
  })

  test('is made fifty times a day by one workspace, and by one person with many workspaces', async () => {
    const post = async (workspaceId: number, i: number) =>
      own.owner.in(workspaceId).post('/invitations', { email: `guest-${i}@people.example` })
    const { limiter } = server.app.signIn
    const counted = [`invitations:workspace:${own.id}`, `invitations:user:${own.owner.id}`]
    for (const key of counted) for (let i = 0; i < 48; i++) await limiter.take(key, 50, DAY_MS)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await post(own.id, i)).status)
    expect(statuses).toEqual([201, 201, 429, 429])
    expect(smtp.mails).toHaveLength(2)
    expect((await own.owner.apiIn(own.id, '/invitations')).json.total).toBe(2)

    const other = await own.owner.post('/workspaces', { name: 'Another' })
    const refused = await post(other.json.data.id, 99)
    expect([refused.status, refused.json.error]).toEqual([
      429,
      'You have sent 50 invitations within a day. Try again later.',
    ])
  })
})
