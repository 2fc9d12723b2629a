// The mail that brings an invitation, as a real SMTP server takes it and a real parser reads it.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { type Team, team } from '../../../tests/support/people.ts'
import { startServer, type TestServer } from '../../../tests/support/server.ts'

describe('an invitation by mail', () => {
  const mails: { to: string[]; raw: string }[] = []
  let refusing = false
  let smtp: SMTPServer
  let server: TestServer
  let own: Team

  beforeAll(async () => {
    smtp = new SMTPServer({
      authOptional: true,
      hideSTARTTLS: true,
      onMailFrom: (_, __, done) => done(refusing ? new Error('not today') : null),
      onData: (stream, session, done) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          const to = session.envelope.rcptTo.map(({ address }) => address)
          mails.push({ to, raw: Buffer.concat(chunks).toString('latin1') })
          done()
        })
      },
    })
    const { promise, resolve } = Promise.withResolvers<void>()
    smtp.listen(0, '127.0.0.1', resolve)
    await promise
    const { port } = smtp.server.address() as AddressInfo
    const environment = { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Towpath <go@towpath.example>' }
    server = await startServer('sqlite', { environment })
  }, 30_000)
  afterAll(async () => {
    await server?.close()
    smtp?.close()
  })
  beforeEach(async () => {
    mails.length = 0
    refusing = false
    own = await team(server)
  })

  const invite = async (email: string) =>
    (await own.owner.askIn(own.id, '/invitations', { method: 'POST', body: { email } })).json.data
  const rename = (name: string) => own.owner.askIn(own.id, '/workspace', { method: 'PATCH', body: { name } })

  test('goes to the invited address alone, and has the link that the answer has', async () => {
    const { url, mailed } = await invite('ann@people.example')
    expect(mailed).toBe(true)
    expect(mails.map(({ to }) => to)).toEqual([['ann@people.example']])
    const mail = await PostalMime.parse(mails[0]?.raw ?? '')
    expect(mail).toMatchObject({
      from: { name: 'Towpath', address: 'go@towpath.example' },
      to: [{ address: 'ann@people.example' }],
      subject: 'Olga invites you to "Test"',
    })
    expect(mail.text).toContain(url)
    expect(url).toStartWith(`${server.origin}/app/join?token=`)
    expect(mail.html).toBeUndefined()
  })

  test('is not misled by the Host that the request named', async () => {
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' }
    const call = { method: 'POST', body: { email: 'ann@people.example' }, headers }
    const { json } = await own.owner.askIn(own.id, '/invitations', call)
    expect(json.data.url).toStartWith(server.origin)
    expect(mails[0]?.raw).not.toContain('evil.example')
  })

  test('stays one mail with one header, whatever the workspace is called', async () => {
    await rename('Boats\r\nBcc: eve@evil.example\r\n\r\n<script>alert(1)</script>\u202eX')
    await invite('ann@people.example')
    const mail = await PostalMime.parse(mails[0]?.raw ?? '')
    expect(mails[0]?.to).toEqual(['ann@people.example'])
    expect(mail.bcc ?? []).toEqual([])
    expect(mail.subject).toBe('Olga invites you to "Boats Bcc: eve@evil.example <script>alert(1)</script> X"')
  })

  test('that the server did not take is an invitation all the same, whose link one hands on', async () => {
    refusing = true
    const { url, mailed } = await invite('ann@people.example')
    expect([mailed, mails]).toEqual([false, []])
    expect(url).toContain('token=')
    expect((await own.owner.askIn(own.id, '/invitations')).json.total).toBe(1)
  })

  test('is one of fifty a day by one person; further ones are made without', async () => {
    const made: boolean[] = []
    for (let i = 0; i < 52; i++) made.push((await invite(`guest-${i}@people.example`)).mailed)
    expect(made.filter(Boolean)).toHaveLength(50)
    expect(made.slice(50)).toEqual([false, false])
    expect(mails).toHaveLength(50)
    expect((await own.owner.askIn(own.id, '/invitations')).json.total).toBe(52)
  })
})
