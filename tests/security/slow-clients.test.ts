// Clients that do not take their answers, do not finish their requests, or send no more: each is ended at both ends of
// its relay, and clients that make progress are not.

import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { openFastPath } from '../../server/http/fast-path/listener.ts'
import { findFreePort } from '../support/processes/free-port.ts'
import { destroyRawClients, dialRaw, rawRequest, readStatuses } from '../support/raw-client.ts'
import { full } from '../support/suite.ts'
import { until } from '../support/until.ts'

const BIG = Buffer.alloc(16 * 1024 * 1024, 'x')
/** Fits into the buffers of both kernels. */
const MEDIUM = BIG.subarray(0, 300_000)
/** A client without progress is ended after this time. */
const PROGRESS_MS = 100

/** Resolves once the client of a test sends no more. */
let clientEnded = Promise.withResolvers<void>()
const seen: { path: string; aborted: boolean }[] = []
const behind = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  // Longer than any test takes: what ends here is ended by the fast path.
  idleTimeout: 200,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    const entry = { path: pathname, aborted: false }
    seen.push(entry)
    request.signal.addEventListener('abort', () => {
      entry.aborted = true
    })
    if (pathname === '/big') return new Response(BIG)
    if (pathname === '/medium') return new Response(MEDIUM)
    if (pathname === '/never') return new Promise<Response>(() => {})
    if (pathname === '/unread') return new Promise<Response>(() => {})
    if (pathname === '/later') await clientEnded.promise
    return new Response(`${request.method} ${pathname} ${(await request.text()).length}`)
  },
})
function openFront(progressMs: number) {
  const port = findFreePort()
  const front = openFastPath({
    hostname: '127.0.0.1',
    port,
    behind: { hostname: '127.0.0.1', port: behind.port as number },
    redirect: ({ path }) => (path === 'known' ? { status: 302, location: 'https://example.com/' } : null),
    idleSeconds: 200,
    progressMs,
  })
  return { port, front }
}
const { port, front } = openFront(PROGRESS_MS)
/** For clients that get their answer, also on a busy machine. */
const patient = openFront(20_000)
afterAll(async () => {
  destroyRawClients()
  front.stop()
  patient.front.stop()
  await behind.stop(true)
})

/** The kernel may keep the last bytes for the client a little longer. */
const areGone = (at = front) => at.counts().open === 0 && at.counts().relayed === 0
const entryOf = (path: string) => seen.findLast((entry) => entry.path === path)

describe('a client that does not take its answer is ended at both ends', () => {
  test.each([1, 6])('%i at once', async (requests) => {
    const client = await dialRaw(port, { paused: true })
    const before = seen.length
    client.socket.write(rawRequest('GET', '/big').repeat(requests))
    await until('the request', () => seen.length > before)
    await until('the end of both', () => areGone())
  })
})

full('a client that takes its answer slowly gets all of it', async () => {
  const client = await dialRaw(port)
  client.socket.on('data', () => {
    client.socket.pause()
    void Bun.sleep(2).then(() => client.socket.resume())
  })
  client.socket.write(rawRequest('GET', '/big'))
  await until('all of it', () => client.bytes > BIG.length)
  expect(client.ended).toBe(false)
  client.socket.destroy()
})

describe('a client that does not finish its request is ended at both ends', () => {
  test.each([
    ['its head, byte by byte', 'GET /a HTTP/1.1\r\nHost: a\r\nX: ', 'x'],
    ['its head, not at all', 'GET /a HTTP/1.1\r\nHost: a\r\nX: ', ''],
    ['its body, byte by byte', rawRequest('POST', '/body', 'Content-Length: 100000'), 'x'],
    ['its body, not at all', rawRequest('POST', '/body', 'Content-Length: 100000'), ''],
    ['its chunks, byte by byte', rawRequest('POST', '/body', 'Transfer-Encoding: chunked'), '1\r\nx\r\n'],
  ])('%s', async (_, beginning, piece) => {
    const client = await dialRaw(port)
    client.socket.write(beginning)
    await until('the relay', () => front.counts().relayed === 1)
    await until('the end of both', () => {
      if (piece) client.socket.write(piece)
      return areGone()
    })
    expect(readStatuses(client.text)).toEqual([])
  })

  full('and one that sends its body slowly is not', async () => {
    const client = await dialRaw(port)
    client.socket.write(rawRequest('POST', '/body', 'Content-Length: 40000'))
    for (let sent = 0; sent < 40_000; sent += 1000) {
      client.socket.write('x'.repeat(1000))
      await Bun.sleep(PROGRESS_MS / 4)
    }
    await until('the answer', () => client.text.endsWith('POST /body 40000'))
    client.socket.destroy()
  })
})

/** The end of these answers is uncertain, so their connections stay open for as long as an answer may take. */
const UNCERTAIN = ['the second of two at once', 'chunks']

describe('a request whose client sends no more gets its answer', () => {
  test.each<[string, string, string, number[]]>([
    ['GET', rawRequest('GET', '/later'), 'GET /later 0', [200]],
    ['POST', `${rawRequest('POST', '/later', 'Content-Length: 3')}abc`, 'POST /later 3', [200]],
    ['a plain redirect', rawRequest('GET', '/known'), '\r\n\r\n', [302]],
    [
      'the second of two at once',
      rawRequest('GET', '/first') + rawRequest('GET', '/last'),
      'GET /last 0',
      [200, 200],
    ],
    [
      'chunks',
      `${rawRequest('POST', '/later', 'Transfer-Encoding: chunked')}1\r\nx\r\n0\r\n\r\n`,
      'POST /later 1',
      [200],
    ],
  ])('%s', async (name, bytes, end, statuses) => {
    clientEnded = Promise.withResolvers()
    const client = await dialRaw(patient.port)
    client.socket.end(bytes, () => clientEnded.resolve())
    await until('the answer', () => client.text.endsWith(end))
    expect(readStatuses(client.text)).toEqual(statuses)
    if (!UNCERTAIN.includes(name)) await until('the end', () => client.closed && areGone(patient.front))
  })

  test('a big one', async () => {
    const { open } = patient.front.counts()
    const client = await dialRaw(patient.port)
    client.socket.end(rawRequest('GET', '/big'))
    await until('the end', () => client.closed && patient.front.counts().open <= open)
    expect(client.bytes).toBeGreaterThan(BIG.length)
  })

  test('half a request gets none', async () => {
    const client = await dialRaw(port)
    const before = seen.length
    client.socket.end('GET /half HTTP/1.1\r\nHost: a\r\n')
    await until('the end', () => areGone())
    expect([client.text, seen.length]).toEqual(['', before])
  })

  test('one without an answer is ended, and the server told', async () => {
    const client = await dialRaw(port)
    client.socket.end(rawRequest('GET', '/never'))
    await until('the end', () => areGone())
    await until('the abort', () => entryOf('/never')?.aborted)
  })
})

test('a client that resets the connection while it is not read is gone for the server, too', async () => {
  const client = await dialRaw(port)
  client.socket.write(rawRequest('POST', '/unread', `Content-Length: ${BIG.length}`))
  client.socket.write(BIG)
  await until('the request', () => entryOf('/unread'))
  client.socket.resetAndDestroy()
  await until('the end of both', () => front.counts().relayed === 0 && front.counts().open === 0)
  await until('the abort', () => entryOf('/unread')?.aborted)
})

/**
 * Bytes that the kernel keeps for clients of the port, of closed connections too (Linux: proc_net_tcp). The table may lack a
 * connection while those of other programs come and go.
 */
function readUntaken(port: number): number {
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  const own = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local]) => local?.endsWith(`:${toHex(port)}`))
  return own.reduce((sum, [, , , , queues]) => sum + Number.parseInt(queues ?? '0', 16), 0)
}
const toHex = (value: number) => value.toString(16).toUpperCase().padStart(4, '0')

const onLinux = process.platform === 'linux' ? full : test.skip
onLinux(
  'the kernel keeps no answer for a client that does not take it after its connection has ended',
  async () => {
    // Long enough to see what the kernel keeps, also on a busy machine.
    const { port, front } = openFront(3000)
    const client = await dialRaw(port, { paused: true })
    client.socket.write(rawRequest('GET', '/medium', 'Connection: close'))
    await until('the end of the relay', () => seen.at(-1)?.path === '/medium' && front.counts().open === 0)
    await until('bytes that the kernel keeps', () => readUntaken(port) > 0)
    await until('an empty kernel', () => readUntaken(port) === 0)
    front.stop()
  },
)
