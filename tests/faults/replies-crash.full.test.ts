// Replies to senders survive kill -9 between the answer of the form and the mail: each is sent once, and the limits hold.

import { expect, test } from 'bun:test'
import net, { type AddressInfo, type Socket } from 'node:net'
import { closeAfterAll } from '../support/close-after-all.ts'
import { startMailServer } from '../support/fake-servers/mail-server.ts'
import { BEHIND_PROXY, SCRIPT_HEADERS } from '../support/form-requests.ts'
import { until } from '../support/until.ts'
import { createInstallation, type ServerProcess } from './server-process.ts'

const closeLater = closeAfterAll()
const SENDERS = 20

/** A mail server that takes connections and never greets: every attempt hangs until its process is killed. */
async function startSilentServer() {
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closeLater(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}

const toOptions = (smtpUrl: string) => ({
  environment: { ...BEHIND_PROXY.environment, SMTP_URL: smtpUrl, MAIL_FROM: 'go@towpath.example' },
})

test('a reply is sent once after kill -9 between its submission and its mail', async () => {
  const [silent, mail] = [await startSilentServer(), await startMailServer()]
  closeLater(mail.stop)
  const installation = await createInstallation(1)
  closeLater(installation.end)
  const [key = ''] = installation.keys
  let server: ServerProcess = await installation.start(toOptions(silent.url))
  const reply = { subject: 'Thanks', text: 'Hello {{name}}', confirm: false }
  const made = await server.api(key, '/forms', { name: 'Contact', reply })
  expect(made.status).toBe(201)
  const form: string = made.json.data.formKey
  const emails = Array.from({ length: SENDERS }, (_, n) => `person${n}@example.com`)
  const submitAll = () =>
    Promise.all(
      emails.map((email) => server.submit(form, `name=x&email=${encodeURIComponent(email)}`, SCRIPT_HEADERS)),
    )
  expect((await submitAll()).filter(({ status }) => status === 200)).toHaveLength(SENDERS)
  await until('an attempt', () => silent.sockets.size > 0)
  await server.kill()
  expect(mail.mails).toEqual([])

  server = await installation.start(toOptions(mail.url()))
  await until('the replies', () => mail.mails.length >= SENDERS)
  // The limit of one a day has survived too.
  await submitAll()
  await until('no delivery that waits', async () => {
    const { json } = await server.api(key, '/deliveries?status=waiting')
    return json.total === 0
  })
  expect(mail.mails.flatMap(({ to }) => to).sort()).toEqual(emails.toSorted())
  expect(new Set(mail.mails.map(({ parsed }) => parsed.messageId)).size).toBe(SENDERS)
  expect(await server.stop()).toBe(0)
}, 120_000)
