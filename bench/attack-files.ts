// The files that attacks of bench/attack-corpus.ts upload: a dump that is slow to recognise, and exports of workspaces that
// nobody has exported.

import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

/** Marks above and below a letter, by turns: to compose them (Unicode's NFC), a run of them is sorted. */
export const writeMarks = (pairs: number) => `a${'\u0301\u0316'.repeat(pairs)}`

const COMMENTS = 60
/** It looks like the beginning of an SQL dump, and is none. */
export const COMMENTED_DUMP = `${`/*${'x'.repeat(4_000)}*/\n`.repeat(COMMENTS)}x,y\n1,2\n`

const AT = '2026-01-01T00:00:00.000Z'
const FORM = {
  formKey: 'attack2345',
  name: 'Attack',
  enabled: true,
  requiredFields: [],
  redirectUrl: null,
  pageUrl: null,
  afterSubmit: 'referer',
  onError: 'referer',
  captcha: false,
  successMessage: null,
  allowedOrigins: [],
  nextHosts: [],
  channelIds: [],
  uploads: null,
  reply: null,
  spam: null,
  rules: null,
  messages: null,
  consent: null,
  createdAt: AT,
  updatedAt: AT,
}

const EMPTY = Object.fromEntries(
  [
    'notes email duplicateOf visitor linkId clickId eventId referrer pageUrl landingUrl utmSource utmMedium',
    'utmCampaign utmTerm utmContent device browser os country region city',
  ]
    .join(' ')
    .split(' ')
    .map((name) => [name, null]),
)

const toSubmission = (id: number, fields: [string, string][], files: object[] = []) => ({
  ...EMPTY,
  id,
  formKey: FORM.formKey,
  fields,
  status: 'new',
  sessionLinked: false,
  attribution: 'none',
  createdAt: AT,
  files,
  touches: [],
})

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

async function packWorkspace(submissions: object[], blobs: [string, Buffer][] = []) {
  const lines = (records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')
  const parts: [string, string][] = [
    ['forms.ndjson', lines([FORM])],
    ['submissions.ndjson', lines(submissions)],
  ]
  const manifest = {
    format: 'towpath-workspace',
    version: 1,
    product: '1.0.0',
    defaultDomain: 'go.example',
    // Of another workspace each time: what an export has brought is not brought again.
    workspace: { publicId: `ws_${crypto.randomUUID()}`, name: 'Attack', createdAt: AT },
    files: parts.map(([name, text]) => ({
      name,
      records: text.split('\n').length - 1,
      bytes: Buffer.byteLength(text),
      sha256: sha256(text),
    })),
  }
  const zip = new ZipFile()
  for (const [name, bytes] of [...parts, ...blobs, ['manifest.json', JSON.stringify(manifest)] as const])
    zip.addBuffer(Buffer.from(bytes), name)
  zip.end()
  return new Uint8Array(await buffer(zip.outputStream as Readable))
}

const MARKED_SUBMISSIONS = 2

/** 2.5 KB with 128,000 marks. */
export const packMarks = () =>
  packWorkspace(
    Array.from({ length: MARKED_SUBMISSIONS }, (_, n) => toSubmission(n + 1, [['text', writeMarks(32_000)]])),
  )

const FILE_KEY = '2026-01-01/0123456789abcdef0123456789abcdef'
/** 500 times as many bytes on the disk: enough for a measurement, and not for a full disk. */
const PACKED_BYTES = 2 * 1024 * 1024
const NAMED_TIMES = 500
const FILES_A_SUBMISSION = 5

/** One packed file that 500 lines of submissions name. */
export function packOneFile() {
  const bytes = Buffer.alloc(PACKED_BYTES)
  const file = { field: 'file', name: 'a.bin', bytes: bytes.length, sha256: sha256(bytes), path: FILE_KEY }
  const files = Array.from({ length: FILES_A_SUBMISSION }, () => file)
  const submissions = Array.from({ length: NAMED_TIMES / FILES_A_SUBMISSION }, (_, n) =>
    toSubmission(n + 1, [['text', String(n)]], files),
  )
  return packWorkspace(submissions, [[`files/${FILE_KEY}`, bytes]])
}
