// The password of the mail server never crosses a network in clear text: somebody in between can take the offer of
// STARTTLS out of the server's answer (RFC 3207 §6).

import { afterEach, expect, test } from 'bun:test'
import { readMail } from '../../server/config/mail-settings.ts'
import { createMailSender } from '../../server/http/mail/send-mail.ts'
import { closeMailers } from '../../server/http/mail/smtp.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'

const PASSWORD = 'hunter22'
const MAIL = { to: 'ann@example.com', subject: 'Hello', text: 'Hello' }

/** The certificate of the test's mail server is signed by nobody. */
const ANY_CERTIFICATE = 'tls.rejectUnauthorized=false'

const servers: Awaited<ReturnType<typeof startMailServer>>[] = []

async function openMailServer(options: Parameters<typeof startMailServer>[0]) {
  const server = await startMailServer(options)
  servers.push(server)
  return server
}

afterEach(async () => {
  closeMailers()
  for (const server of servers.splice(0)) await server.stop()
})

/** Sends a mail as a server does whose SMTP_URL names another machine. That machine's name leads to this test. */
async function sendThrough(mailServer: { url(): string }, settings: Record<string, string>) {
  const { host } = new URL(mailServer.url())
  const get = (name: string) => ({ MAIL_FROM: 'leads@example.com', ...settings })[name]
  const { smtpUrl, mailFrom } = readMail(get, (name, what) => {
    throw new Error(`${name} ${what}`)
  })
  return createMailSender({ smtpUrl: smtpUrl?.replace('mail.example', host), mailFrom })?.(MAIL)
}

const WITH_PASSWORD = `smtp://leads:${PASSWORD}@mail.example`

test('a server without STARTTLS gets neither password nor mail', async () => {
  const server = await openMailServer({ password: PASSWORD })
  expect(await sendThrough(server, { SMTP_URL: WITH_PASSWORD })).toBe(false)
  expect([server.passwords, server.mails]).toEqual([[], []])
})

test('a server with STARTTLS gets the password encrypted, and the mail', async () => {
  const server = await openMailServer({ password: PASSWORD, starttls: true })
  expect(await sendThrough(server, { SMTP_URL: `${WITH_PASSWORD}/?${ANY_CERTIFICATE}` })).toBe(true)
  expect(server.passwords).toEqual([{ password: PASSWORD, encrypted: true }])
  expect(server.mails).toHaveLength(1)
})

test('a server with a certificate that nobody has signed gets neither', async () => {
  const server = await openMailServer({ password: PASSWORD, starttls: true })
  expect(await sendThrough(server, { SMTP_URL: WITH_PASSWORD })).toBe(false)
  expect([server.passwords, server.mails]).toEqual([[], []])
})

test('SMTP_INSECURE=on sends the password in clear text', async () => {
  const server = await openMailServer({ password: PASSWORD })
  expect(await sendThrough(server, { SMTP_URL: WITH_PASSWORD, SMTP_INSECURE: 'on' })).toBe(true)
  expect(server.passwords).toEqual([{ password: PASSWORD, encrypted: false }])
})

test('without a password, mail is encrypted where the server offers it, and sent in any case', async () => {
  for (const starttls of [false, true]) {
    const server = await openMailServer({ starttls })
    expect(await sendThrough(server, { SMTP_URL: `smtp://mail.example/?${ANY_CERTIFICATE}` })).toBe(true)
    expect(server.mails.map(({ encrypted }) => encrypted)).toEqual([starttls])
  }
})
