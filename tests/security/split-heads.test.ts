// Requests that readers may read differently, cut in two at each byte: the fast path and the server behind it together
// answer as the server alone does when all bytes come at once.

import { afterAll, expect, test } from 'bun:test'
import { openFastPath } from '../../server/http/fast-path/listener.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { destroyRawClients, dialRaw, rawRequest } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const LOCATION = 'https://example.com'
const alone = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 30,
  error: () => new Response('failed', { status: 500 }),
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    if (request.method === 'GET' && /^\/known\w*$/.test(pathname)) {
      return new Response(null, { status: 302, headers: { Location: LOCATION + pathname + search } })
    }
    return new Response(`${request.method} ${pathname} ${(await request.text()).length}`)
  },
})
const port = findFreePort()
const front = openFastPath({
  hostname: '127.0.0.1',
  port,
  behind: { hostname: '127.0.0.1', port: alone.port as number },
  redirect: ({ path, query }) =>
    path.startsWith('known') ? { status: 302, location: `${LOCATION}/${path}${query && `?${query}`}` } : null,
  post: ({ path, body }) =>
    path === 'told' ? { status: 200, headers: '', body: `POST /told ${body().length}` } : null,
  idleSeconds: 30,
})
afterAll(async () => {
  destroyRawClients()
  front.stop()
  await alone.stop(true)
})

const CLOSE = 'Connection: close'
const HEADS: [string, string][] = [
  ['a plain redirect', rawRequest('GET', '/known?a=b', CLOSE)],
  ['a plain POST', `${rawRequest('POST', '/told', CLOSE, 'Content-Length: 3')}abc`],
  ['a redirect after a redirect', rawRequest('GET', '/known') + rawRequest('GET', '/known2', CLOSE)],
  [
    'a redirect after a body',
    `${rawRequest('POST', '/a', 'Content-Length: 1')}x${rawRequest('GET', '/known', CLOSE)}`,
  ],
  [
    'a redirect in a body',
    `${rawRequest('POST', '/a', CLOSE, 'Content-Length: 43')}${rawRequest('GET', '/known', 'X: 1234567')}`,
  ],
  ['chunks', `${rawRequest('POST', '/a', CLOSE, 'Transfer-Encoding: chunked')}1\r\nx\r\n0\r\n\r\n`],
  [
    'chunks and a length',
    `${rawRequest('POST', '/a', CLOSE, 'Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`,
  ],
  ['two lengths', `${rawRequest('POST', '/a', CLOSE, 'Content-Length: 1', 'Content-Length: 2')}xy`],
  ['a length with a sign', `${rawRequest('POST', '/a', CLOSE, 'Content-Length: +1')}x`],
  ['a space before the colon', rawRequest('GET', '/known', CLOSE, 'X : y')],
  ['a folded line', rawRequest('GET', '/known', CLOSE, 'X: y\r\n z')],
  ['a line feed alone', `GET /known HTTP/1.1\nHost: a\n${CLOSE}\n\n`],
  ['a carriage return alone', `GET /known HTTP/1.1\r\nHost: a\rX: y\r\n${CLOSE}\r\n\r\n`],
  ['a NUL', rawRequest('GET', '/known', CLOSE, 'X: \0')],
  ['a byte above 127', rawRequest('GET', '/known', CLOSE, 'X: \xe9')],
  ['no Host', `GET /known HTTP/1.1\r\n${CLOSE}\r\n\r\n`],
  ['HTTP/1.0', 'GET /known HTTP/1.0\r\nHost: a\r\n\r\n'],
  ['a whole URL', rawRequest('GET', 'http://a/known', CLOSE)],
  ['dots', rawRequest('GET', '/x/../known', CLOSE)],
  ['percent signs', rawRequest('GET', '/%6bnown', CLOSE)],
  ['an unknown method', rawRequest('GETS', '/known', CLOSE)],
  ['an empty line before it', `\r\n${rawRequest('GET', '/known', CLOSE)}`],
  ['two Connections', rawRequest('GET', '/known', 'Connection: keep-alive', CLOSE)],
]

/** Status, Location and body of each answer, in order; the other fields may differ. */
const toAnswers = (text: string) =>
  text
    .split(/(?=HTTP\/1\.1 \d\d\d )/)
    .filter((part) => part !== '')
    .map((part) => {
      const [head = '', ...body] = part.split('\r\n\r\n')
      return `${head.slice(9, 12)} ${/^location: (.*)$/im.exec(head)?.[1] ?? ''} ${body.join('\r\n\r\n')}`
    })

/** Two turns of the event loop: the server, in this process, has read what was written. */
async function pass(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function ask(to: number, pieces: string[]): Promise<string[]> {
  const client = await dialRaw(to)
  client.socket.setNoDelay(true)
  for (const piece of pieces) {
    client.socket.write(piece, 'latin1')
    await pass()
  }
  await until('the end', () => client.ended)
  client.socket.destroy()
  return toAnswers(client.text)
}

test.each(HEADS)('%s', async (_, bytes) => {
  const expected = await ask(alone.port as number, [bytes])
  const cuts = Array.from({ length: bytes.length }, (_, at) => [bytes.slice(0, at), bytes.slice(at)])
  const results = await Promise.all(
    cuts.map(async (pieces) => ({ pieces, answers: await ask(port, pieces) })),
  )
  const different = results.filter(({ answers }) => !Bun.deepEquals(answers, expected))
  expect({ expected, different }).toEqual({ expected, different: [] })
})
