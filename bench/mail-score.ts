// Writes one mail of each kind as a mail server receives it, for `spamassassin -L -t < file`: `bun bench/mail-score.ts <directory>`.

import { mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import type { Notice, ReportContent } from '../server/features/notify/channels/contract.ts'
import { sendEmail } from '../server/features/notify/channels/email.ts'
import {
  createDestination,
  createNotice,
  SEND_NEEDS,
} from '../server/features/notify/channels/notice.fixture.ts'
import { closeMailers } from '../server/http/mail/smtp.ts'

const ORIGIN = 'https://go.example.com'
const LINES = 'We saw your offer and want a quote for 40 bikes.\n\nCan you call?\n\nBest\nAda'
const FILE_URL = `${ORIGIN}/f/files/2026-11-27.${'0123456789abcdef'.repeat(2)}.mabcdefg.${'A'.repeat(43)}`

/** The rules look at the address that the mail came from: a public one. */
const RECEIVED = () =>
  'Received: from go.example.com (go.example.com [93.184.216.34])\r\n\tby mx.example.net with ESMTPS id abc123\r\n' +
  `\tfor <team@example.net>; ${new Date().toUTCString().replace('GMT', '+0000')}\r\n`

const fields = (...entries: [string, string][]): Partial<Notice> => ({
  fields: new Map(entries),
  email: null,
})

const REPORT: ReportContent = {
  workspaceId: 1,
  name: 'Spring campaign',
  url: `${ORIGIN}/app/1/analytics?start=2026-11-16&end=2026-11-22&timezone=Europe%2FBerlin`,
  timezone: 'Europe/Berlin',
  start: '2026-11-15T23:00:00.000Z',
  end: '2026-11-22T23:00:00.000Z',
  period: 'Nov 16 – 22, 2026',
  totals: [
    { label: 'Clicks', count: 12_480, before: 11_020 },
    { label: 'Visitors', count: 9_312, before: 9_940 },
    { label: 'Leads', count: 214, before: 0 },
  ],
  time: Array.from({ length: 7 }, (_, n) => ({ label: `Nov ${16 + n}, 2026`, count: 1_400 + 137 * n })),
  lists: [
    {
      title: 'Top links',
      rows: [
        { label: 'go.example.com/spring', count: 8_400 },
        { label: `go.example.com/${'a-very-long-slug-'.repeat(5)}`, count: 3_100 },
        { label: 'go.example.com/größe', count: 980 },
      ],
    },
    {
      title: 'Sources',
      rows: ['Google', 'Instagram', 'Direct'].map((label, n) => ({ label, count: 5_000 >> n })),
    },
    { title: 'Countries', rows: ['Germany', 'France'].map((label, n) => ({ label, count: 7_000 >> n })) },
  ],
}

const KINDS: Record<string, Partial<Notice>> = {
  report: {
    ...fields(['Period', 'Nov 16 – 22, 2026 (Europe/Berlin)'], ['Clicks', '12,480 (+13% from 11,020)']),
    ...{ event: 'view.report', form: { formKey: '', name: REPORT.name }, attribution: '', report: REPORT },
  },
  alert: {
    ...fields(
      ['Reason', '412 clicks in the last hour, 96 in the same hour of earlier weeks (+329%)'],
      ['Hours', 'Nov 27, 2026, 9:00 – 10:00 AM (Europe/Berlin)'],
    ),
    ...{ event: 'view.alert', form: { formKey: '', name: REPORT.name }, attribution: '' },
  },
  lines: fields(['name', 'Ada Lovelace'], ['message', LINES]),
  'free-mail': { ...fields(['email', 'ada@gmail.com'], ['message', LINES]), email: 'ada@gmail.com' },
  'two-free-mails': {
    ...fields(['email', 'ada1@gmail.com'], ['partner', 'bob@yahoo.com'], ['message', LINES]),
    email: 'ada1@gmail.com',
  },
  short: fields(['email', 'ada@example.org']),
  empty: { ...fields(), attribution: '' },
  german: fields(['Name', 'Jürgen Müller'], ['Nachricht', 'Größe? Ich hätte gern ein Angebot für 3 Räder.']),
  chinese: fields(['姓名', '张伟'], ['留言', '你好，我想要一个报价。谢谢！']),
  files: { files: [{ name: 'cv.pdf', bytes: 1000, url: FILE_URL, key: 'cv' }] },
  digest: { ...fields(['Ada', 'Hello'], ['Bob', 'Hi there']), event: 'submission.digest', total: 3 },
  test: { ...fields(['message', 'This is a test: your channel works.']), event: 'test' },
  layout: {
    layout: {
      subject: 'New lead: ACME',
      render: () => 'Ada asks about Contact:\nhello\nthere',
      hasAttribution: false,
      hasUrl: false,
    },
  },
  'one-word': fields(['message', 'x'.repeat(3000)]),
}

const directory = process.argv[2] ?? 'mails'
mkdirSync(directory, { recursive: true })
let kind = ''
const server = new SMTPServer({
  authOptional: true,
  hideSTARTTLS: true,
  onData(stream, _, done) {
    const chunks: Uint8Array[] = []
    stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
    stream.on('end', () => {
      writeFileSync(join(directory, `${kind}.eml`), Buffer.concat([Buffer.from(RECEIVED()), ...chunks]))
      done()
    })
  },
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const { port } = server.server.address() as AddressInfo
const needs = {
  ...SEND_NEEDS,
  origin: ORIGIN,
  smtpUrl: `smtp://127.0.0.1:${port}`,
  mailFrom: 'Towpath <forms@go.example.com>',
  readFile: async () => Buffer.from('%PDF-1.7\n'),
}
const stop = { url: `${ORIGIN}/app/mail?token=1.abc`, oneClickUrl: `${ORIGIN}/api/mail/1.abc` }
const to = createDestination({ recipients: ['team@example.net'], stop, attachUpTo: 1000 })
const at = Date.now()
for (const [name, over] of Object.entries(KINDS)) {
  kind = name
  const url = `${ORIGIN}/app/1/inbox?open=42`
  const { outcome, answer } = await sendEmail(needs, to, createNotice({ at, createdAt: at, url, ...over }))
  if (outcome !== 'delivered') throw new Error(`${name}: ${answer}`)
}
closeMailers()
server.close()
