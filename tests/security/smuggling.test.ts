// Requests that two servers could read in two ways, through a real nginx that shares one connection to the fast path
// among all clients: each request that is answered is one that nginx has sent, and nobody gets the answer of another.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FastPath, openFastPath } from '../../server/http/fast-path/listener.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { type Nginx, startNginx } from '../support/processes/nginx.ts'
import { destroyRawClients, dialRaw, rawRequest } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

/** The paths of all requests that somebody behind nginx has read, in order. */
const read: string[] = []
const behind = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 20,
  error: () => new Response('failed', { status: 500 }),
  async fetch(request) {
    const { pathname } = new URL(request.url)
    read.push(pathname)
    return new Response(`${request.method} ${pathname} ${(await request.text()).length}`)
  },
})
const port = findFreePort()
const front: FastPath = openFastPath({
  hostname: '127.0.0.1',
  port,
  behind: { hostname: '127.0.0.1', port: behind.port as number },
  redirect({ path }) {
    if (!path.startsWith('known')) return null
    read.push(`/${path}`)
    return { status: 302, location: `https://example.com/${path}` }
  },
  post({ path, body }) {
    if (path !== 'told') return null
    read.push('/told')
    return { status: 200, headers: '', body: `told ${body().length}` }
  },
  idleSeconds: 20,
})
let nginx: Nginx
beforeAll(async () => {
  // The address is `-` where nginx has refused the request itself.
  nginx = await startNginx(port, '$upstream_addr $uri')
}, 120_000)
afterAll(async () => {
  destroyRawClients()
  await nginx?.end()
  front.stop()
  await behind.stop(true)
})

const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n'
const CHUNKED_HIDDEN = `0\r\n\r\n${HIDDEN}`
const post = (path: string, ...lines: string[]) => rawRequest('POST', path, ...lines)
const both = (path: string, coding: string) =>
  `${post(path, `Content-Length: ${CHUNKED_HIDDEN.length}`, coding)}${CHUNKED_HIDDEN}`

const CODINGS = [
  'Transfer-Encoding: chunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding:chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: "chunked"',
  'Transfer-Encoding: CHUNKED',
  'Transfer-Encoding:\r\n chunked',
  'X: y\nTransfer-Encoding: chunked',
  'X: y\rTransfer-Encoding: chunked',
  'Transfer_Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding: chunked\x00',
]

const length = HIDDEN.length
const LENGTHS = [
  ['Content-Length: 0', `Content-Length: ${length}`],
  [`Content-Length: ${length}`, 'Content-Length: 0'],
  [`Content-Length: 0, ${length}`],
  [`Content-Length : ${length}`],
  [`Content-Length: +${length}`],
  [`Content-Length: 0${length}`],
  [`Content-Length: 0x${length.toString(16)}`],
  [`Content-Length:\r\n ${length}`],
  [`Content-Length: ${length}\x0b`],
  ['Content-Length: -1'],
  ['Content-Length: 4294967296'],
  ['Content-Length: 18446744073709551616'],
  [`X: y\nContent-Length: ${length}`],
  [`Content_Length: ${length}`],
]

const CHUNKS = [
  `0;a=b\r\n\r\n${HIDDEN}`,
  `0\n\n${HIDDEN}`,
  `0x0\r\n\r\n${HIDDEN}`,
  `00\r\nX: y\r\n\r\n${HIDDEN}`,
  `1\r\nx${HIDDEN}0\r\n\r\n`,
  `1;\nx\r\nx\r\n0\r\n\r\n${HIDDEN}`,
  `ffffffffffffffff1\r\nx\r\n0\r\n\r\n${HIDDEN}`,
  `-1\r\nx\r\n0\r\n\r\n${HIDDEN}`,
  `1\r\nxx\r\n0\r\n\r\n${HIDDEN}`,
]

/** A name for each case, and its bytes. `/known` and `/told` are answered by the fast path itself. */
const CORPUS: [string, string][] = [
  ...['/known', '/told', '/relayed'].flatMap((path): [string, string][] => [
    ...CODINGS.map((coding): [string, string] => [`${path}: a length and ${coding}`, both(path, coding)]),
    ...LENGTHS.map((lines): [string, string] => [
      `${path}: ${lines.join(' and ')}`,
      post(path, ...lines) + HIDDEN,
    ]),
    ...CHUNKS.map((chunks): [string, string] => [
      `${path}: chunks ${chunks.slice(0, 20)}`,
      post(path, 'Transfer-Encoding: chunked') + chunks,
    ]),
    [`${path}: a GET with a body`, rawRequest('GET', path, `Content-Length: ${length}`) + HIDDEN],
    [`${path}: a HEAD with a body`, rawRequest('HEAD', path, `Content-Length: ${length}`) + HIDDEN],
    [`${path}: an expectation`, post(path, 'Expect: 100-continue', `Content-Length: ${length}`) + HIDDEN],
    [`${path}: an upgrade`, rawRequest('GET', path, 'Connection: upgrade', 'Upgrade: h2c') + HIDDEN],
    [`${path}: two at once`, rawRequest('GET', path) + HIDDEN],
    [`${path}: a whole URL`, rawRequest('GET', `http://b${path}`) + HIDDEN],
    [
      `${path}: HTTP/1.0 kept alive`,
      `GET ${path} HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n${HIDDEN}`,
    ],
    [`${path}: HTTP/0.9`, `GET ${path}\r\n${HIDDEN}`],
    [`${path}: an empty line before it`, `\r\n${rawRequest('GET', path)}${HIDDEN}`],
    [`${path}: two hosts`, rawRequest('GET', path, 'Host: b') + HIDDEN],
    [`${path}: less than its length`, `${post(path, 'Content-Length: 999')}${HIDDEN}`],
  ]),
]

/** The paths of all requests that nginx has passed on, in order. */
const passedOn = () =>
  readFileSync(join(nginx.dir, 'access.log'), 'utf8')
    .split('\n')
    .map((line) => /^127\S+ (.*)$/.exec(line)?.[1])
    .filter((path) => path !== undefined)

test('each request that is read is one that nginx has sent, and each client gets its own answers', async () => {
  read.length = 0
  for (const [n, [name, bytes]] of CORPUS.entries()) {
    const attacker = await dialRaw(nginx.port)
    attacker.socket.write(bytes, 'latin1')
    // Victims on the connection that the attacker has used.
    for (const path of [`/known${n}`, `/victim${n}`]) {
      const victim = await dialRaw(nginx.port)
      victim.socket.write(rawRequest('GET', path, 'Connection: close'))
      await until('the answer', () => victim.ended)
      // A connection that stays relayed has the victim's redirect answered by the server behind.
      const isOwn =
        victim.text.includes(`GET ${path} 0`) ||
        (path.startsWith('/known') && victim.text.includes(`\r\nLocation: https://example.com${path}\r\n`))
      if (!isOwn) throw new Error(`${name}: ${path} was answered with ${victim.text}`)
    }
    attacker.socket.destroy()
  }
  await nginx.stop()
  const sent = passedOn()
  expect(read.filter((path) => path === '/hidden').length).toBeLessThanOrEqual(
    sent.filter((path) => path === '/hidden').length,
  )
  const victims = (paths: string[]) => paths.filter((path) => /\d$/.test(path))
  expect(victims(sent)).toHaveLength(CORPUS.length * 2)
  expect(victims(read)).toEqual(victims(sent))
}, 120_000)
