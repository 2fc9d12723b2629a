// The attacks of bench/attacks.ts: each goes on until its process is ended. Add a case to the list, and it is measured.
// bun bench/attack-corpus.ts <name> <target as JSON>: runs one.

import { connect, type Socket } from 'node:net'
import {
  packArchive,
  toFileRecord,
  toFormRecord,
  toPackedPath,
  toSubmissionRecord,
} from '../tests/support/imports/pack-archive.ts'
import { startPace } from './pace.ts'

export interface AttackTarget {
  port: number
  /** API keys, each of another workspace. */
  keys: string[]
  formKey: string
  /** A link with a password. */
  lockedSlug: string
  /** A form with a pattern for each of PATTERN_FIELDS. */
  patternFormKey: string
  /** Of the first key's workspace, which has the forms, too. */
  publicId: string
  /** Of a workspace where people have asked for a thousand unknown slugs. */
  missingKey: string
}

export const PATTERN_FIELDS = Array.from({ length: 100 }, (_, n) => `field${n}`)

/** Returns when the attack is under way. */
type Attack = (target: AttackTarget) => void

const ADDRESSES = 16
const origin = ({ port }: AttackTarget) => `http://127.0.0.1:${port}`

/** From one of several addresses, none of which the server trusts as a proxy. */
function dial({ port }: AttackTarget, n: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${1 + (n % ADDRESSES)}` })
  socket.on('error', () => {})
  return socket
}

/** Sends bytes over a connection of its own, and waits for its end. */
async function exchange(target: AttackTarget, n: number, send: (socket: Socket) => void): Promise<void> {
  const socket = dial(target, n)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.resume()
  send(socket)
  await closed
}

/** Keeps `count` connections open, each begun by `begin` and replaced when it ends. */
const hold =
  (count: number, begin: (socket: Socket, target: AttackTarget) => void): Attack =>
  (target) => {
    let n = 0
    const open = () => {
      const socket = dial(target, n++)
      socket.on('close', () => setTimeout(open, 10))
      begin(socket, target)
    }
    for (let i = 0; i < count; i++) open()
  }

/** Calls `once` at a steady pace, with at most `atOnce` calls running. A call that fails is part of the attack. */
const often =
  (perSecond: number, atOnce: number, once: (target: AttackTarget, n: number) => Promise<unknown>): Attack =>
  (target) => {
    startPace(perSecond, atOnce, (n) => once(target, n))
  }

let people = 0
/** Sends a request as somebody else each time: the server trusts this machine as a proxy. */
async function send(target: AttackTarget, path: string, init: RequestInit = {}): Promise<void> {
  people++
  const address = `100.${64 + ((people >> 16) & 63)}.${(people >> 8) & 255}.${people & 255}`
  const headers = { 'X-Forwarded-For': address, ...init.headers }
  const answer = await fetch(origin(target) + path, { redirect: 'manual', ...init, headers })
  await answer.arrayBuffer()
}

type Headers = Record<string, string>
const post = (target: AttackTarget, path: string, body: string | FormData, headers: Headers = {}) =>
  send(target, path, { method: 'POST', body, headers })
const postForm = (target: AttackTarget, body: string | FormData, headers?: Headers) =>
  post(target, `/f/${target.formKey}`, body, headers)

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }
const keyOf = ({ keys }: AttackTarget, n: number) => ({ Authorization: `Bearer ${keys[n % keys.length]}` })
const withKey = (target: AttackTarget, n: number) => ({ ...JSON_TYPE, ...keyOf(target, n) })

function toFormData(fields: Record<string, string | Blob>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, 'attack')
  return form
}

/** Sends a file to be imported, or inspected. */
const upload = (target: AttackTarget, n: number, path: string, fields: Record<string, string | Blob>) =>
  post(target, `/v1/imports${path}`, toFormData(fields), keyOf(target, n))

/** Imports that run go on when the attack ends: a few of them are enough. */
const importOften = (
  perSecond: number,
  source: string,
  makeFile: () => Promise<string | Uint8Array<ArrayBuffer>>,
) =>
  often(perSecond, 1, async (target, n) =>
    upload(target, n, '', { source, file: new Blob([await makeFile()]) }),
  )

/** Letters that were not there before, at little cost to the attacker. */
const randomSlug = (length: number) =>
  crypto.getRandomValues(Buffer.alloc(16)).toString('hex').slice(0, length).padEnd(length, 'abcdefgh')

/** Marks above and below a letter, by turns: to compose them (Unicode's NFC), a run of them is sorted. */
const writeMarks = (pairs: number) => `a${'\u0301\u0316'.repeat(pairs)}`

const WIDE_ARRAY = `{"destinationUrl":"https://example.com/","a":[${'1,'.repeat(500_000)}1]}`
const DEEP_BRACKETS = `{"a":${'['.repeat(200_000)}{"__proto__":1}${']'.repeat(200_000)}}`

/** 130 KB that a person could have typed, with less patience. */
const MARKED_TEXT = writeMarks(32_000)
const MARKED_PATH = `GET /${writeMarks(3_700)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
const LONG_HOST = JSON.stringify({
  html: `<form method="post" action="http://${writeMarks(50_000)}.example/f/x"><input name="a"></form>`,
})
const PATTERN_BODY = new URLSearchParams(
  Object.fromEntries(PATTERN_FIELDS.map((name) => [name, 'abcdefghij'.repeat(20)])),
).toString()

const HOSTILE_HEADS = [
  'GET /bench1 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  `GET /bench1 HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(3000)}\r\n`,
  `GET /bench1 HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(15_000)}\r\n\r\n`,
  `GET /${'%61'.repeat(4000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  `GET /bench1?${'a=b&'.repeat(3500)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'GET /bench1 HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n',
  'POST /bench1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'GET /bench1 HTTP/1.1\nHost: a\n\n',
  'NONSENSE\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
]

/** It looks like the beginning of an SQL dump, and is none. */
const COMMENTED_DUMP = `${`/*${'x'.repeat(4_000)}*/\n`.repeat(60)}x,y\n1,2\n`

const FORM_KEY = 'attack2345'
const CREATED_AT = '2026-01-01T00:00:00.000Z'

/** Of another workspace each time: what an export has brought is not brought again. */
async function packWorkspace(submissions: object[], files: Record<string, Buffer> = {}) {
  const records = { 'forms.ndjson': [toFormRecord(FORM_KEY)], 'submissions.ndjson': submissions }
  const workspace = { publicId: `ws_${crypto.randomUUID()}`, name: 'Attack', createdAt: CREATED_AT }
  return new Uint8Array(await packArchive(records, files, { workspace }))
}

const toSubmission = (n: number, parts: object) => toSubmissionRecord(n, FORM_KEY, parts)

/** 2.5 KB with 128,000 marks. */
function packMarks() {
  const fields = [['text', writeMarks(32_000)]]
  return packWorkspace([1, 2].map((n) => toSubmission(n, { fields })))
}

/** One packed file that 500 lines of submissions name: on the disk it takes 1 GB. */
function packOneFile() {
  const [path, bytes] = [toPackedPath(1), Buffer.alloc(2 * 1024 * 1024)]
  const files = Array.from({ length: 5 }, () => toFileRecord(path, bytes))
  const submissions = Array.from({ length: 100 }, (_, n) => toSubmission(n + 1, { files }))
  return packWorkspace(submissions, { [path]: bytes })
}

export const ATTACKS: Record<string, Attack> = {
  'slow readers: 400 clients ask six times for a big file, and read nothing': hold(400, (socket) => {
    socket.pause()
    socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(6))
  }),
  'slow writers: 400 clients send a body byte by byte': hold(400, (socket, { formKey }) => {
    socket.write(`POST /f/${formKey} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n`)
    const timer = setInterval(() => socket.write('x'), 200)
    socket.on('close', () => clearInterval(timer))
  }),
  'resets: 1,000 a second': often(1_000, 64, async (target, n) => {
    const socket = dial(target, n)
    await new Promise((resolve) => socket.once('connect', resolve).once('error', resolve))
    socket.write(`GET /${n % 2 ? 'bench1' : 'unknown'} HTTP/1.1\r\nHost: a\r\n\r\n`)
    socket.resetAndDestroy()
  }),
  'connections: 3,000 that say nothing, each opened again when it is ended': hold(3_000, () => {}),
  'connections: 500 a second, an API request on each': often(500, 64, (target, n) =>
    exchange(target, n, (socket) =>
      socket.write('GET /v1/links HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    ),
  ),
  'hostile heads: 500 a second': often(500, 64, (target, n) =>
    exchange(target, n, (socket) => socket.end(HOSTILE_HEADS[n % HOSTILE_HEADS.length] as string, 'latin1')),
  ),
  'unknown slugs: 1,000 a second': often(1_000, 32, (target) => send(target, `/${randomSlug(8)}`)),
  'unknown slugs of 1,000 letters: 500 a second': often(500, 32, (target) =>
    send(target, `/${randomSlug(1_000)}`),
  ),
  'clicks with 8 KB of parameters: 500 a second': often(500, 32, (target) =>
    send(target, `/bench1?utm_source=${randomSlug(4_000)}&utm_campaign=${randomSlug(4_000)}`),
  ),
  'clicks with user agents of 4 KB: 500 a second': often(500, 32, (target) =>
    send(target, '/bench1', { headers: { 'User-Agent': `Mozilla/5.0 (${randomSlug(4_000)})` } }),
  ),
  'JSON to /v1: 1 MB of [1,1,…], 5 a second': often(5, 2, (target, n) =>
    post(target, '/v1/links', WIDE_ARRAY, withKey(target, n)),
  ),
  'JSON to /v1: 200,000 brackets, 5 a second': often(5, 2, (target, n) =>
    post(target, '/v1/links', DEEP_BRACKETS, withKey(target, n)),
  ),
  'JSON to a form: 1 MB of [1,1,…], 5 a second': often(5, 2, (target) =>
    postForm(target, WIDE_ARRAY, JSON_TYPE),
  ),
  'submissions of 64 KB: 50 a second': often(50, 16, (target) =>
    postForm(target, `name=a&email=a@example.com&text=${randomSlug(64_000)}`, FORM_TYPE),
  ),
  'passwords of a link: 60 at once': often(1_000, 60, (target) =>
    post(target, `/${target.lockedSlug}`, 'password=wrong', FORM_TYPE),
  ),
  'sign-ins: 60 at once': often(1_000, 60, (target, n) => {
    const body = JSON.stringify({ email: `a${n}@example.com`, password: 'wrong password' })
    return post(target, '/api/auth/sign-in/email', body, { ...JSON_TYPE, Origin: origin(target) })
  }),
  'marks: a form post of 130 KB, 2 a second': often(2, 2, (target) =>
    postForm(target, `text=${MARKED_TEXT}`, FORM_TYPE),
  ),
  'marks: the same as JSON, 2 a second': often(2, 2, (target) =>
    postForm(target, JSON.stringify({ text: MARKED_TEXT }), JSON_TYPE),
  ),
  'marks: the same as multipart, 2 a second': often(2, 2, (target) =>
    postForm(target, toFormData({ text: MARKED_TEXT })),
  ),
  'marks: paths of 15 KB, 8 a second': often(8, 4, (target, n) =>
    exchange(target, n, (socket) => socket.write(MARKED_PATH)),
  ),
  'import: an SQL dump with sixty comments, 2 a second': importOften(2, 'csv', async () => COMMENTED_DUMP),
  'inspect: an SQL dump with sixty comments, 2 a second': often(2, 2, (target, n) =>
    upload(target, n, '/inspect', { file: new Blob([COMMENTED_DUMP]) }),
  ),
  'import: a workspace of 2.5 KB with 128,000 marks': importOften(2, 'towpath', packMarks),
  'import: a workspace that names one file 500 times': importOften(1, 'towpath', packOneFile),
  'page check: a host of 100,000 marks, 2 a second': often(2, 2, (target) =>
    post(target, `/v1/forms/${target.formKey}/check`, LONG_HOST, withKey(target, 0)),
  ),
  'page views: a referrer with a host of 3 KB of marks, 100 a second': often(100, 16, (target, n) => {
    const r = `https://${n}${writeMarks(750)}.example/`
    return post(target, '/e', JSON.stringify({ w: target.publicId, u: 'https://example.com/', r }), JSON_TYPE)
  }),
  'patterns: a form with a hundred, 5 a second': often(5, 2, (target) =>
    post(target, `/f/${target.patternFormKey}`, PATTERN_BODY, FORM_TYPE),
  ),
  'analytics: a thousand missing slugs, 2 a second': often(2, 2, (target) => {
    const headers = { Authorization: `Bearer ${target.missingKey}` }
    return send(target, '/v1/analytics/missing?interval=7d&limit=1000', { headers })
  }),
}

if (import.meta.main) {
  const [name = '', target = ''] = process.argv.slice(2)
  ATTACKS[name]?.(JSON.parse(target))
}
