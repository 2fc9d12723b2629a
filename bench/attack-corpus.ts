// The attacks of bench/attacks.ts: each goes on until its process is ended. Add a case to the list, and it is measured.
// bun bench/attack-corpus.ts <name> <target as JSON>: runs one.

import { connect, type Socket } from 'node:net'
import { COMMENTED_DUMP, packMarks, packOneFile, writeMarks } from './attack-files.ts'

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

interface Attack {
  name: string
  /** Returns when the attack is under way. */
  start(target: AttackTarget): void
}

const ADDRESSES = 16
const origin = ({ port }: AttackTarget) => `http://127.0.0.1:${port}`

/** From one of several addresses, none of which the server trusts as a proxy. */
function dial({ port }: AttackTarget, n: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${1 + (n % ADDRESSES)}` })
  socket.on('error', () => {})
  return socket
}

/** Keeps so many connections open, each begun by `begin` and replaced when it ends. */
function hold(target: AttackTarget, count: number, begin: (socket: Socket, n: number) => void): void {
  let n = 0
  const open = () => {
    const socket = dial(target, n++)
    socket.on('close', () => setTimeout(open, 10))
    begin(socket, n)
  }
  for (let i = 0; i < count; i++) open()
}

/** Does it so often a second, but never more than so many at once. What fails is one of the attack's, too. */
function pace(perSecond: number, atOnce: number, once: (n: number) => Promise<unknown>): void {
  const startedAt = performance.now()
  let [n, running] = [0, 0]
  setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond
    for (; n < due && running < atOnce; n++) {
      running++
      void once(n)
        .catch(() => {})
        .finally(() => running--)
    }
    // What could not be begun in time is left out.
    n = Math.max(n, Math.floor(due))
  }, 2)
}

let people = 0
/** Each request is somebody else’s: the server trusts this machine as a proxy. */
const asStranger = () => {
  people++
  return { 'X-Forwarded-For': `100.${64 + ((people >> 16) & 63)}.${(people >> 8) & 255}.${people & 255}` }
}

async function post(
  target: AttackTarget,
  path: string,
  body: string | FormData,
  headers: Record<string, string>,
) {
  const init: RequestInit = {
    method: 'POST',
    body,
    redirect: 'manual',
    headers: { ...asStranger(), ...headers },
  }
  await (await fetch(origin(target) + path, init)).arrayBuffer()
}

async function get(target: AttackTarget, path: string, headers: Record<string, string> = {}) {
  const init: RequestInit = { redirect: 'manual', headers: { ...asStranger(), ...headers } }
  await (await fetch(origin(target) + path, init)).arrayBuffer()
}

/** Sends a file to be imported, or inspected. */
function upload(target: AttackTarget, n: number, path: string, fields: Record<string, string | Blob>) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, 'attack')
  }
  return post(target, `/v1/imports${path}`, form, keyOf(target, n))
}

/** Imports that run go on when the attack ends: a few of them are enough. */
const importOften = (
  perSecond: number,
  source: string,
  makeFile: () => Promise<string | Uint8Array<ArrayBuffer>>,
) => ({
  start: (target: AttackTarget) =>
    pace(perSecond, 1, async (n) => upload(target, n, '', { source, file: new Blob([await makeFile()]) })),
})

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }
const keyOf = ({ keys }: AttackTarget, n: number) => ({ Authorization: `Bearer ${keys[n % keys.length]}` })
/** Letters that were not there before, at little cost to whoever makes them. */
const randomSlug = (length: number) =>
  crypto.getRandomValues(Buffer.alloc(16)).toString('hex').slice(0, length).padEnd(length, 'abcdefgh')

const WIDE_ARRAY = `{"destinationUrl":"https://example.com/","a":[${'1,'.repeat(500_000)}1]}`
const DEEP_BRACKETS = `{"a":${'['.repeat(200_000)}{"__proto__":1}${']'.repeat(200_000)}}`

/** 130 KB that a person could have typed, with less patience. */
const MARKED_TEXT = writeMarks(32_000)
const MARKED_PATH = `GET /${writeMarks(3_700)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`
const LONG_HOST = `<form method="post" action="http://${writeMarks(50_000)}.example/f/x"><input name="a"></form>`
const PATTERN_BODY = new URLSearchParams(
  Object.fromEntries(PATTERN_FIELDS.map((name) => [name, 'abcdefghij'.repeat(20)])),
).toString()

function toFormData(fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

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

export const ATTACKS: Attack[] = [
  {
    name: 'slow readers: 400 clients ask six times for a big file, and read nothing',
    start: (target) =>
      hold(target, 400, (socket) => {
        socket.pause()
        socket.write('GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(6))
      }),
  },
  {
    name: 'slow writers: 400 clients send a body byte by byte',
    start: (target) =>
      hold(target, 400, (socket) => {
        socket.write(`POST /f/${target.formKey} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n`)
        const timer = setInterval(() => socket.write('x'), 200)
        socket.on('close', () => clearInterval(timer))
      }),
  },
  {
    name: 'resets: 1,000 a second',
    start: (target) =>
      pace(1_000, 64, async (n) => {
        const socket = dial(target, n)
        await new Promise((resolve) => socket.once('connect', resolve).once('error', resolve))
        socket.write(`GET /${n % 2 ? 'bench1' : 'unknown'} HTTP/1.1\r\nHost: a\r\n\r\n`)
        socket.resetAndDestroy()
      }),
  },
  {
    name: 'connections: 3,000 that say nothing, each opened again when it is ended',
    start: (target) => hold(target, 3_000, () => {}),
  },
  {
    name: 'connections: 500 a second, an API request on each',
    start: (target) =>
      pace(500, 64, async (n) => {
        const socket = dial(target, n)
        const closed = new Promise((resolve) => socket.once('close', resolve))
        socket.resume()
        socket.write('GET /v1/links HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
        await closed
      }),
  },
  {
    name: 'hostile heads: 500 a second',
    start: (target) =>
      pace(500, 64, async (n) => {
        const socket = dial(target, n)
        const closed = new Promise((resolve) => socket.once('close', resolve))
        socket.resume()
        socket.end(HOSTILE_HEADS[n % HOSTILE_HEADS.length] as string, 'latin1')
        await closed
      }),
  },
  {
    name: 'unknown slugs: 1,000 a second',
    start: (target) => pace(1_000, 32, () => get(target, `/${randomSlug(8)}`)),
  },
  {
    name: 'unknown slugs of 1,000 letters: 500 a second',
    start: (target) => pace(500, 32, () => get(target, `/${randomSlug(1_000)}`)),
  },
  {
    name: 'clicks with 8 KB of parameters: 500 a second',
    start: (target) =>
      pace(500, 32, () =>
        get(target, `/bench1?utm_source=${randomSlug(4_000)}&utm_campaign=${randomSlug(4_000)}`),
      ),
  },
  {
    name: 'clicks with user agents of 4 KB: 500 a second',
    start: (target) =>
      pace(500, 32, () => get(target, '/bench1', { 'User-Agent': `Mozilla/5.0 (${randomSlug(4_000)})` })),
  },
  {
    name: 'JSON to /v1: 1 MB of [1,1,…], 5 a second',
    start: (target) =>
      pace(5, 2, (n) => post(target, '/v1/links', WIDE_ARRAY, { ...JSON_TYPE, ...keyOf(target, n) })),
  },
  {
    name: 'JSON to /v1: 200,000 brackets, 5 a second',
    start: (target) =>
      pace(5, 2, (n) => post(target, '/v1/links', DEEP_BRACKETS, { ...JSON_TYPE, ...keyOf(target, n) })),
  },
  {
    name: 'JSON to a form: 1 MB of [1,1,…], 5 a second',
    start: (target) => pace(5, 2, () => post(target, `/f/${target.formKey}`, WIDE_ARRAY, JSON_TYPE)),
  },
  {
    name: 'submissions of 64 KB: 50 a second',
    start: (target) =>
      pace(50, 16, () =>
        post(
          target,
          `/f/${target.formKey}`,
          `name=a&email=a@example.com&text=${randomSlug(64_000)}`,
          FORM_TYPE,
        ),
      ),
  },
  {
    name: 'passwords of a link: 60 at once',
    start: (target) =>
      pace(1_000, 60, () => post(target, `/${target.lockedSlug}`, 'password=wrong', FORM_TYPE)),
  },
  {
    name: 'sign-ins: 60 at once',
    start: (target) =>
      pace(1_000, 60, (n) =>
        post(
          target,
          '/api/auth/sign-in/email',
          JSON.stringify({ email: `a${n}@example.com`, password: 'wrong password' }),
          { ...JSON_TYPE, Origin: origin(target) },
        ),
      ),
  },
  {
    name: 'marks: a form post of 130 KB, 2 a second',
    start: (target) =>
      pace(2, 2, () => post(target, `/f/${target.formKey}`, `text=${MARKED_TEXT}`, FORM_TYPE)),
  },
  {
    name: 'marks: the same as JSON, 2 a second',
    start: (target) =>
      pace(2, 2, () =>
        post(target, `/f/${target.formKey}`, JSON.stringify({ text: MARKED_TEXT }), JSON_TYPE),
      ),
  },
  {
    name: 'marks: the same as multipart, 2 a second',
    start: (target) =>
      pace(2, 2, () => post(target, `/f/${target.formKey}`, toFormData({ text: MARKED_TEXT }), {})),
  },
  {
    name: 'marks: paths of 15 KB, 8 a second',
    start: (target) =>
      pace(8, 4, async (n) => {
        const socket = dial(target, n)
        const closed = new Promise((resolve) => socket.once('close', resolve))
        socket.resume()
        socket.write(MARKED_PATH)
        await closed
      }),
  },
  {
    name: 'import: an SQL dump with sixty comments, 2 a second',
    ...importOften(2, 'csv', async () => COMMENTED_DUMP),
  },
  {
    name: 'inspect: an SQL dump with sixty comments, 2 a second',
    start: (target) => pace(2, 2, (n) => upload(target, n, '/inspect', { file: new Blob([COMMENTED_DUMP]) })),
  },
  {
    name: 'import: a workspace of 2.5 KB with 128,000 marks',
    ...importOften(2, 'towpath', packMarks),
  },
  { name: 'import: a workspace that names one file 500 times', ...importOften(1, 'towpath', packOneFile) },
  {
    name: 'page check: a host of 100,000 marks, 2 a second',
    start: (target) =>
      pace(2, 2, () =>
        post(target, `/v1/forms/${target.formKey}/check`, JSON.stringify({ html: LONG_HOST }), {
          ...JSON_TYPE,
          ...keyOf(target, 0),
        }),
      ),
  },
  {
    name: 'page views: a referrer with a host of 3 KB of marks, 100 a second',
    start: (target) =>
      pace(100, 16, (n) => {
        const page = {
          w: target.publicId,
          u: 'https://example.com/',
          r: `https://${n}${writeMarks(750)}.example/`,
        }
        return post(target, '/e', JSON.stringify(page), JSON_TYPE)
      }),
  },
  {
    name: 'patterns: a form with a hundred, 5 a second',
    start: (target) => pace(5, 2, () => post(target, `/f/${target.patternFormKey}`, PATTERN_BODY, FORM_TYPE)),
  },
  {
    name: 'analytics: a thousand missing slugs, 2 a second',
    start: (target) =>
      pace(2, 2, () =>
        get(target, '/v1/analytics/missing?interval=7d&limit=1000', {
          Authorization: `Bearer ${target.missingKey}`,
        }),
      ),
  },
]

if (import.meta.main) {
  const [name, target] = process.argv.slice(2)
  ATTACKS.find((attack) => attack.name === name)?.start(JSON.parse(target as string))
}
