// Mails as a real SMTP server takes them and a real parser reads them.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerError } from 'smtp-server'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { closeMailers } from '../../../http/mail/smtp.ts'
import type { ChannelDestination, DeliveryResult, Notice, SendNeeds } from './contract.ts'
import { sendEmail, toSubject } from './email.ts'
import {
  createDestination,
  createNotice,
  SEND_NEEDS,
  SUBMISSION_URL,
  toCompleteResult,
} from './notice.fixture.ts'

type Step = 'auth' | 'from' | 'to' | 'data'

const PASSWORD = 'cAnArY/sMtP+pass word'

const refusal = (responseCode: number, message: string) =>
  Object.assign(new Error(message), { responseCode }) as SMTPServerError

function startMailServer() {
  const mails: { from: string; to: string[]; raw: string }[] = []
  const refuse: Partial<Record<Step, SMTPServerError>> = {}
  let connections = 0
  const server = new SMTPServer({
    authOptional: true,
    // No certificate to trust here: the operator's URL says whether there must be one.
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onConnect: (_, done) => {
      connections++
      done()
    },
    onAuth: ({ username, password }, _, done) => {
      if (refuse.auth) return done(refuse.auth)
      if (username !== 'towpath' || password !== PASSWORD)
        return done(refusal(535, `no ${username} ${password}`))
      done(null, { user: username })
    },
    onMailFrom: (_, __, done) => done(refuse.from),
    onRcptTo: ({ address }, _, done) =>
      done(address.startsWith('gone') ? refusal(550, 'no such user') : refuse.to),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (refuse.data) return done(refuse.data)
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom ? mailFrom.address : ''
        mails.push({
          from,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('latin1'),
        })
        done(null, 'queued as 1')
      })
    },
  })
  server.on('error', () => {})
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  const url = (who = '') => `smtp://${who}127.0.0.1:${(server.server.address() as AddressInfo).port}`
  return {
    ready: promise,
    mails,
    refuse,
    url,
    connections: () => connections,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

describe('an email', () => {
  const server = startMailServer()
  beforeAll(() => server.ready)
  afterEach(() => {
    for (const step of ['auth', 'from', 'to', 'data'] as const) delete server.refuse[step]
  })
  afterAll(async () => {
    closeMailers()
    await server.close()
  })

  const send = (
    over: Partial<Notice> = {},
    to: Partial<ChannelDestination> = {},
    by: Partial<SendNeeds> = {},
  ): Promise<DeliveryResult> => {
    const mailFrom = 'Towpath <noreply@go.example>'
    const destination = createDestination({ recipients: ['team@example.org'], ...to })
    return sendEmail(
      { ...SEND_NEEDS, smtpUrl: server.url(), mailFrom, ...by },
      destination,
      createNotice(over),
    )
  }
  const last = async (): Promise<{ mail: Email; raw: string; headers: Record<string, string> }> => {
    const { raw } = server.mails.at(-1) as { raw: string }
    const mail = await new PostalMime().parse(Buffer.from(raw, 'latin1'))
    return { mail, raw, headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])) }
  }

  test('is shown as it was sent, without the link that stops it', async () => {
    const page = 'https://go.example/app/mail?token=1.cAnArY'
    const stop = { url: page, oneClickUrl: `${page}-one-click` }
    const { request } = await send({}, { stop })
    expect(request).toMatchObject({
      method: 'SMTP',
      url: null,
      headers: {
        From: 'Towpath <noreply@go.example>',
        To: 'team@example.org',
        'Reply-To': 'ada@example.org',
        Subject: 'Contact: Ada Lovelace',
        'List-Unsubscribe': '<(hidden)>',
      },
      body: expect.stringContaining('message:\n  Hello,\n  please call me.'),
    })
    expect(JSON.stringify(request)).not.toContain('cAnArY')
    // No mail left, because no mail server was reached.
    const away = await send({}, {}, { smtpUrl: `smtp://127.0.0.1:${findFreePort()}` })
    expect([away.operatorFault, away.request]).toEqual([true, undefined])
  })

  test('has its addresses, its number, and the headers against automatic replies', async () => {
    const stop = { url: 'https://go.example/app/mail?token=1.x', oneClickUrl: null }
    const to = { recipients: ['team@example.org', 'zoë@bücher.example'], stop }
    expect(toCompleteResult(await send({}, to))).toMatchObject({
      outcome: 'delivered',
      httpStatus: null,
      answer: expect.stringContaining('queued as 1'),
      permanent: undefined,
    })
    expect(server.mails.at(-1)).toMatchObject({ from: 'noreply@go.example' })
    expect(server.mails.at(-1)?.to).toHaveLength(2)
    const { mail, headers } = await last()
    expect(mail.from).toMatchObject({ name: 'Towpath', address: 'noreply@go.example' })
    expect(mail.replyTo).toMatchObject([{ address: 'ada@example.org' }])
    expect(mail.subject).toBe('Contact: Ada Lovelace')
    expect(mail.messageId).toBe('<msg_0123456789abcdefghijAB@go.example>')
    expect(headers).toMatchObject({
      'auto-submitted': 'auto-generated',
      'x-entity-ref-id': 'msg_0123456789abcdefghijAB',
      'list-unsubscribe': '<https://go.example/app/mail?token=1.x>',
    })
    expect(headers).not.toHaveProperty('list-unsubscribe-post')
    expect(headers).not.toHaveProperty('in-reply-to')
    expect(headers).not.toHaveProperty('bcc')
  })

  test('goes to each recipient alone where each has a link of their own, and is sent while one can be reached', async () => {
    const toStop = (name: string) => ({
      url: `https://go.example/${name}`,
      oneClickUrl: `https://go.example/1/${name}`,
    })
    const recipients = ['ann@example.org', 'bob@example.org']
    const before = server.mails.length
    const result = await send({}, { recipients, ownStops: [toStop('ann'), toStop('bob')] })
    expect(result.outcome).toBe('delivered')
    expect(JSON.stringify(result.request)).not.toContain('go.example/1/')
    const mails = server.mails.slice(before)
    expect(mails).toHaveLength(2)
    for (const [name, other] of [
      ['ann', 'bob'],
      ['bob', 'ann'],
    ] as const) {
      const raw = mails.find(({ to }) => to[0] === `${name}@example.org`)?.raw ?? ''
      const mail = await new PostalMime().parse(Buffer.from(raw, 'latin1'))
      const headers = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]))
      expect(headers).toMatchObject({
        'list-unsubscribe': `<https://go.example/1/${name}>`,
        'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      })
      expect(mail.text).toContain(`Stop receiving these emails: https://go.example/${name}`)
      expect(raw).not.toContain(other)
    }
  })

  test('to one recipient can be stopped by the mail program, and by a link', async () => {
    const stop = {
      url: 'https://go.example/app/mail?token=1.x',
      oneClickUrl: 'https://go.example/api/mail/y',
    }
    await send({}, { stop })
    const { mail, headers } = await last()
    expect(headers).toMatchObject({
      'list-unsubscribe': '<https://go.example/api/mail/y>',
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    })
    expect(mail.headers.find(({ key }) => key === 'list-id')?.value).toBe('<notifications.go.example>')
    expect(mail.text).toContain(`Stop receiving these emails: ${stop.url}`)
    expect(mail.html).toContain(`<a href="${stop.url}"`)
  })

  test('has the files of a submission up to the size that the channel names, all or none', async () => {
    const file = (name: string, text: string) => ({
      name,
      bytes: text.length,
      url: 'https://go.example/f',
      key: text,
    })
    const files = [file('Zoë.pdf', 'first'), file('b.html', 'second')]
    const readFile = async (key: string) => Buffer.from(key)
    const attached = async (
      over: Partial<Notice>,
      attachUpTo: number,
      by: Partial<SendNeeds> = { readFile },
    ) => {
      expect((await send(over, { attachUpTo }, by)).outcome).toBe('delivered')
      const { mail } = await last()
      expect(mail.text).toContain('https://go.example/f')
      return mail.attachments.map(({ filename, mimeType, disposition, content }) =>
        [filename, mimeType, disposition, Buffer.from(content as ArrayBuffer).toString()].join(' '),
      )
    }
    expect(await attached({ files }, 11)).toEqual([
      'Zoë.pdf application/octet-stream attachment first',
      'b.html application/octet-stream attachment second',
    ])
    expect(await attached({ files }, 10)).toEqual([])
    expect(await attached({ files }, 0)).toEqual([])
    const gone = async () => Promise.reject(new Error('gone'))
    expect(await attached({ files }, 11, { readFile: gone })).toEqual([])
  })

  test('comes without its files where the mail server refuses them', async () => {
    const files = [{ name: 'a.exe', bytes: 1, url: 'https://go.example/f', key: 'a' }]
    // The server looks at the refusal twice for each mail.
    let looks = 2
    const get = () => (looks-- > 0 ? refusal(552, 'too large') : undefined)
    Object.defineProperty(server.refuse, 'data', { configurable: true, get })
    const { outcome } = await send({ files }, { attachUpTo: 10 }, { readFile: async () => Buffer.from('x') })
    const { mail } = await last()
    expect([outcome, mail.attachments]).toEqual(['delivered', []])
    expect(mail.text).toContain('a.exe')
  })

  test('keeps the lines of a message where white-space is ignored, and doubles none', async () => {
    await send({ fields: new Map([['message', 'a <b>\n\nc\nd']]) })
    const { mail } = await last()
    expect(mail.html).toContain('>a &lt;b&gt;<br><br>c<br>d</dd>')
    await send({
      layout: {
        subject: null,
        render: () => `x\ny\n${SUBMISSION_URL}\nz`,
        hasAttribution: false,
        hasUrl: true,
      },
    })
    expect((await last()).mail.html).toMatch(/>x<br>y<br><a [^>]*>[^<]*<\/a><br>z<\/div>/)
  })

  test('has the same content in HTML and in text, and loads nothing', async () => {
    await send()
    const { mail } = await last()
    expect(mail.text?.trim()).toBe(
      `New submission to Contact

name:
  Ada Lovelace

10:
  ten

email:
  ada@example.org

message:
  Hello,
  please call me.

newsletter / spring · go.example/abc · Berlin, DE · iPhone

Open in Towpath: ${SUBMISSION_URL}`,
    )
    expect([...(mail.html ?? '').matchAll(/(?:href|src)="([^"]*)"/g)].map(([, url]) => url)).toEqual([
      SUBMISSION_URL,
    ])
    expect(mail.attachments).toEqual([])
  })

  test('has no Reply-To without an address in the submission', async () => {
    await send({ email: null })
    expect((await last()).mail.replyTo).toBeUndefined()
  })

  test('has form and sender in its subject, on one line and short, and no text of both in its sender', async () => {
    const name = `Contact\r\nBcc: victim@example.org\0${'ü👩'.repeat(200)}`
    await send({ form: { formKey: 'k', name }, email: 'a@b.co' })
    const { mail, headers } = await last()
    expect(mail.subject).toMatch(/^Contact Bcc: victim@example\.org.{1,80}…: Ada Lovelace$/u)
    expect(mail.from).toMatchObject({ name: 'Towpath', address: 'noreply@go.example' })
    expect(headers).not.toHaveProperty('bcc')
    expect(server.mails.at(-1)?.to).toEqual(['team@example.org'])
  })

  test.each([
    [
      {
        fields: new Map([
          ['first_name', ' Ada '],
          ['Last-Name', 'Lovelace'],
        ]),
      },
      'Contact: Ada Lovelace',
    ],
    [{ fields: new Map([['your-name', 'Ada\r\nBcc: x@y.z\u202e']]) }, 'Contact: Ada Bcc: x@y.z'],
    [{ fields: new Map([['name', 'x'.repeat(300)]]) }, `Contact: ${'x'.repeat(59)}…`],
    [{ fields: new Map([['name', ' ']]), email: 'ada@example.org' }, 'Contact: ada@example.org'],
    [{ fields: new Map([['message', 'Hello']]), email: null }, 'Contact: submission #12'],
    [{ fields: new Map(), email: null, number: null }, 'Contact: submission'],
  ])('says form and sender: %j', (over, subject) => {
    expect(toSubject(createNotice(over))).toBe(subject)
  })

  test('holds a submission of any size', async () => {
    const fields = new Map(
      Array.from({ length: 256 }, (_, i) => [`field ${i}`, `<&漢👩 ${i}\n`.repeat(6000)]),
    )
    expect((await send({ fields })).outcome).toBe('delivered')
    const { mail, raw } = await last()
    expect(mail.text).toContain('… (open in Towpath)')
    expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998)
  })

  test('uses pooled connections', async () => {
    const before = server.connections()
    for (let i = 0; i < 10; i++) await send()
    expect(server.connections() - before).toBe(0)
  })

  test.each<[Step, number, 'message' | 'operators' | undefined]>([
    ['from', 550, 'operators'],
    ['from', 451, 'operators'],
    ['from', 530, 'operators'],
    ['from', 552, 'message'],
    ['to', 550, 'message'],
    ['to', 450, undefined],
    ['data', 554, 'message'],
    ['data', 452, undefined],
  ])('refused at "%s" with %i: %s', async (step, code, what) => {
    server.refuse[step] = refusal(code, 'no, sorry')
    const result = await send()
    expect(result).toMatchObject({ outcome: 'refused', answer: expect.stringContaining(`${code} no, sorry`) })
    expect(result.permanent?.what ?? (result.operatorFault && 'operators')).toBe(what)
    delete server.refuse[step]
    expect((await send()).outcome).toBe('delivered')
  })

  test('that reached some recipients is not sent again', async () => {
    const result = await send({}, { recipients: ['team@example.org', 'gone@example.org'] })
    expect(toCompleteResult(result)).toMatchObject({ outcome: 'delivered', permanent: undefined })
    expect(result.answer).toContain('gone@example.org: 550 no such user')
  })

  test.each([
    ['wrong', 535],
    ['too weak', 534],
    ['late', 454],
  ])(
    'with a password that is %s (%i) is the operator’s fault, and nothing of it is told',
    async (_, code) => {
      const mistaken = code === 454 ? PASSWORD : `${PASSWORD}!`
      const userinfo = `towpath:${encodeURIComponent(mistaken)}`
      const plain = Buffer.from(`\0towpath\0${mistaken}`).toString('base64')
      const said = [mistaken, plain, Buffer.from(mistaken).toString('base64'), userinfo]
      server.refuse.auth = refusal(code, said.join(' '))
      const result = await send({}, {}, { smtpUrl: server.url(`${userinfo}@`) })
      expect(toCompleteResult(result)).toMatchObject({
        outcome: 'refused',
        permanent: undefined,
        operatorFault: true,
      })
      const answer = `The mail server did not accept the user name and password of this server, which its operator has to mend: ${code} ***`
      expect(result.answer).toStartWith(answer)
      for (const secret of [...said, 'cAnArY']) expect(JSON.stringify(result)).not.toContain(secret)
    },
  )

  test('with the right password arrives', async () => {
    const smtpUrl = server.url(`towpath:${encodeURIComponent(PASSWORD)}@`)
    expect((await send({}, {}, { smtpUrl })).outcome).toBe('delivered')
  })

  test('is retried when the server is away or silent', async () => {
    const silent = net.createServer((socket) => socket.on('error', () => {}))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const slow = await send({}, {}, { smtpUrl: `smtp://u:cAnArY@127.0.0.1:${port}`, timeoutMs: 200 })
    expect(toCompleteResult(slow)).toMatchObject({ outcome: 'timeout', permanent: undefined })
    silent.close()
    closeMailers()
    const away = await send({}, {}, { smtpUrl: `smtp://u:cAnArY@127.0.0.1:${port}` })
    expect(toCompleteResult(away)).toMatchObject({ outcome: 'unreachable', permanent: undefined })
    expect(away.answer).toBe('The mail server could not be reached (ECONNREFUSED)')
  })

  test.each([[{ smtpUrl: undefined }], [{ mailFrom: undefined }]])(
    'says so where the operator has set no server (%j)',
    async (by) => {
      expect(toCompleteResult(await send({}, {}, by))).toMatchObject({
        outcome: 'unreachable',
        answer: expect.stringContaining('SMTP_URL'),
        permanent: undefined,
      })
    },
  )
})
