// Files of a submission in the mail about it: from the form to the mail server.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startMailServer } from '../../../tests/support/fake-servers/mail-server.ts'
import { until } from '../../../tests/support/until.ts'
import { uploadToForm } from '../../../tests/support/upload-requests.ts'
import { startServer, type TestServer } from '../../../tests/support/world.ts'

let mail: Awaited<ReturnType<typeof startMailServer>>
let server: TestServer & { close(): Promise<void> }

beforeAll(async () => {
  mail = await startMailServer()
  const environment = { SMTP_URL: mail.url(), MAIL_FROM: 'forms@go.example' }
  server = await startServer('sqlite', { environment })
})
afterAll(async () => {
  await server.close()
  await mail.stop()
})

test('an email channel attaches files up to its size', async () => {
  const team = await server.createWorkspace()
  const to = 'team@example.com'
  await server.insert('mail_recipients', { workspace_id: team.id, email: to, confirmed_at: 1, created_at: 1 })
  const post = async (path: string, body: object, method = 'POST') =>
    (await team.api(path, { method, body })).json
  const { data: channel } = await post('/channels', { type: 'email', name: 'Team', to: [to], attachUpTo: 10 })
  expect(channel.attachUpTo).toBe(10)
  const { data: form } = await post('/forms', { name: 'Jobs', uploads: {}, channelIds: [channel.id] })
  const send = async (bytes: string) => {
    const before = mail.mails.length
    const parts = [{ name: 'cv', file: 'cv.txt', bytes }]
    expect((await uploadToForm(server, { key: form.formKey }, parts, { 'Sec-GPC': '1' })).json).toEqual({
      ok: true,
    })
    await until('the mail', () => mail.mails.length > before)
    const { text = '', attachments } = mail.mails.at(-1)?.parsed ?? { attachments: [] }
    expect(text).toContain('/f/files/')
    return attachments.map(({ filename, content }) => [
      filename,
      Buffer.from(content as ArrayBuffer).toString(),
    ])
  }
  expect(await send('hello')).toEqual([['cv.txt', 'hello']])
  expect(await send('longer than ten')).toEqual([])
  await post(`/channels/${channel.id}`, { attachUpTo: null }, 'PATCH')
  expect(await send('short')).toEqual([])
  const refused = await post('/channels', {
    type: 'webhook',
    name: 'x',
    url: 'https://a.example/',
    attachUpTo: 1,
  })
  expect(refused.errors).toEqual({ attachUpTo: 'is not for channels of type webhook' })
  const tooLarge = await post(`/channels/${channel.id}`, { attachUpTo: 10 * 1024 * 1024 + 1 }, 'PATCH')
  expect(Object.keys(tooLarge.errors)).toEqual(['attachUpTo'])
})
