// The return of a relayed connection to the fast path.

import { afterAll, describe, expect, test } from 'bun:test'
import { connect, createServer, type Socket } from 'node:net'
import fc from 'fast-check'
import { findFreePort } from '../../../tests/support/processes/free-port.ts'
import { atScale, full } from '../../../tests/support/suite.ts'
import { until } from '../../../tests/support/until.ts'
import { type FastPath, openFastPath } from './listener.ts'

const BIG = 4 * 1024 * 1024
const served: { path: string; address: string | undefined; port: number }[] = []

async function respond(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/204' || pathname === '/304') {
    return new Response(null, { status: Number(pathname.slice(1)) })
  }
  if (pathname === '/unread') return new Response('unread', { status: 404 })
  if (pathname === '/big') return new Response('x'.repeat(BIG))
  if (pathname === '/stream') return new Response(streamOf(['abc', 'def']))
  // Where the server answers what the fast path could have answered, it says so.
  return new Response(`${request.method} ${pathname} ${(await request.text()).length}`)
}

const streamOf = (parts: string[]) =>
  new ReadableStream({
    async start(controller) {
      for (const part of parts) {
        controller.enqueue(part)
        await new Promise((resolve) => setImmediate(resolve))
      }
      controller.close()
    },
  })

const behind = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  idleTimeout: 10,
  error: () => new Response('failed', { status: 500 }),
  fetch(request, server) {
    const from = server.requestIP(request)?.port ?? 0
    served.push({ path: new URL(request.url).pathname, address: front.findPeerAddress(from), port: from })
    return respond(request)
  },
})

function open(port: number, to: number, idleSeconds = 10): FastPath {
  return openFastPath({
    hostname: '127.0.0.1',
    port,
    behind: { hostname: '127.0.0.1', port: to },
    redirect: ({ path }) =>
      path.startsWith('known') ? { status: 302, location: `https://example.com/${path}` } : null,
    post: ({ path, body }) =>
      path === 'told' ? { status: 200, headers: '', body: `told ${body().length}` } : null,
    idleSeconds,
  })
}

const port = findFreePort()
const front = open(port, behind.port as number)
const sockets: Socket[] = []
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  front.stop()
  await behind.stop(true)
})

async function dial(to = port) {
  const socket = connect(to, '127.0.0.1')
  sockets.push(socket)
  const state = { socket, text: '', ended: false }
  socket.on('data', (chunk) => {
    state.text += chunk.toString('latin1')
  })
  socket.on('close', () => {
    state.ended = true
  })
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return state
}
type Client = Awaited<ReturnType<typeof dial>>

const ask = (method: string, path: string, ...lines: string[]) =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
const KNOWN = ask('GET', '/known')
const BY_FAST_PATH = 'Location: https://example.com/known\r\n'
const BY_SERVER = 'GET /known 0'

/** Who answers a plain redirect on the connection now. */
async function whoAnswers(client: Client): Promise<'fast path' | 'server'> {
  client.text = ''
  client.socket.write(KNOWN)
  await until('the redirect', () => client.text.includes(BY_FAST_PATH) || client.text.includes(BY_SERVER))
  return client.text.includes(BY_FAST_PATH) ? 'fast path' : 'server'
}

const RETURNING: [string, string, string][] = [
  ['GET', ask('GET', '/api'), 'GET /api 0'],
  ['HEAD', ask('HEAD', '/api'), 'content-length: 11\r\n\r\n'],
  ['HEAD of a known link', ask('HEAD', '/known'), 'content-length: 13\r\n\r\n'],
  ['a POST with a body', `${ask('POST', '/api', 'Content-Length: 3')}abc`, 'POST /api 3'],
  ['a POST without a body', ask('POST', '/api'), 'POST /api 0'],
  ['a body that nobody reads', `${ask('POST', '/unread', 'Content-Length: 3')}abc`, 'unread'],
  ['204', ask('GET', '/204'), '\r\n\r\n'],
  ['304', ask('GET', '/304'), '\r\n\r\n'],
  ['chunks', ask('GET', '/stream'), '\r\n0\r\n\r\n'],
  [
    'a body with a request in it',
    `${ask('POST', '/api', `Content-Length: ${KNOWN.length}`)}${KNOWN}`,
    `POST /api ${KNOWN.length}`,
  ],
]

describe('the fast path answers again after', () => {
  test.each(RETURNING)('%s', async (_, request, end) => {
    const client = await dial()
    for (let round = 0; round < 3; round++) {
      client.text = ''
      client.socket.write(request)
      await until('its answer', () => client.text.endsWith(end))
      expect(await whoAnswers(client)).toBe('fast path')
    }
  })

  // An answer that comes before the last byte of its request leaves the connection with the server.
  test.each(RETURNING.filter(([, , end]) => end !== 'unread'))(
    '%s, byte by byte',
    async (_, request, end) => {
      const client = await dial()
      for (const byte of request) {
        client.socket.write(byte)
        await new Promise((resolve) => setImmediate(resolve))
      }
      await until('its answer', () => client.text.endsWith(end))
      expect(await whoAnswers(client)).toBe('fast path')
    },
  )

  test('a large answer that was taken slowly', async () => {
    const client = await dial()
    client.socket.pause()
    client.socket.write(ask('GET', '/big'))
    await until('the request', () => served.at(-1)?.path === '/big')
    client.socket.resume()
    await until('its answer', () => client.text.length > BIG)
    expect(await whoAnswers(client)).toBe('fast path')
  })

  test('a large upload', async () => {
    const client = await dial()
    client.socket.write(ask('POST', '/api', `Content-Length: ${BIG}`))
    client.socket.write('x'.repeat(BIG))
    await until('its answer', () => client.text.endsWith(`POST /api ${BIG}`))
    expect(await whoAnswers(client)).toBe('fast path')
  })
})

test('the connection to the server behind is used again, and the client’s address with it', async () => {
  const client = await dial()
  const from = served.length
  for (let round = 0; round < 3; round++) {
    client.text = ''
    client.socket.write(ask('GET', '/api'))
    await until('its answer', () => client.text.endsWith('GET /api 0'))
    expect(await whoAnswers(client)).toBe('fast path')
  }
  const requests = served.slice(from)
  expect(requests.map(({ path, address }) => [path, address])).toEqual(Array(3).fill(['/api', '127.0.0.1']))
  expect(new Set(requests.map((request) => request.port)).size).toBe(1)
  client.socket.destroy()
  await until('the address is forgotten', () => front.findPeerAddress(requests[0]?.port ?? 0) === undefined)
})

describe('the server keeps the connection after', () => {
  test.each<[string, string, string]>([
    ['two requests at once', ask('GET', '/a') + ask('GET', '/b'), 'GET /b 0'],
    ['a redirect behind a request', ask('GET', '/a') + KNOWN, BY_SERVER],
    ['a request behind a redirect', KNOWN + ask('GET', '/a'), 'GET /a 0'],
    ['a request behind a body', `${ask('POST', '/a', 'Content-Length: 1')}x${KNOWN}`, BY_SERVER],
    ['chunks', `${ask('POST', '/a', 'Transfer-Encoding: chunked')}1\r\nx\r\n0\r\n\r\n`, 'POST /a 1'],
    ['an expectation', `${ask('POST', '/a', 'Expect: 100-continue', 'Content-Length: 1')}x`, 'POST /a 1'],
    ['a GET with a length', ask('GET', '/a', 'Content-Length: 0'), 'GET /a 0'],
    ['TE', ask('GET', '/a', 'TE: trailers'), 'GET /a 0'],
    ['a byte above 127', ask('GET', '/a', 'X: \xe9'), 'GET /a 0'],
    ['HEAD of a stream', ask('HEAD', '/stream'), '\r\n\r\n'],
  ])('%s', async (_, request, end) => {
    const client = await dial()
    client.socket.write(request, 'latin1')
    await until('its answer', () => client.text.endsWith(end))
    expect(await whoAnswers(client)).toBe('server')
    expect(await whoAnswers(client)).toBe('server')
  })
})

test.each<[string, string]>([
  ['a request that ends the connection', ask('GET', '/a', 'Connection: close')],
  ['a request that the server refuses', 'NONSENSE HTTP/1.1\r\n\r\n'],
])('the connection ends with %s', async (_, request) => {
  const client = await dial()
  client.socket.write(request)
  await until('its end', () => client.ended)
})

describe('a server that answers strangely', () => {
  const LENGTH_1 = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n'
  const connections: Socket[] = []
  let answers: string[] = []
  const raw = createServer((socket) => {
    connections.push(socket)
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        text = text.slice(end + 4)
        socket.write(answers.shift() ?? `${LENGTH_1}!`, 'latin1')
      }
    })
  })
  const at = findFreePort()
  let strange: FastPath | undefined
  afterAll(() => {
    strange?.stop()
    raw.close()
  })

  async function dialStrange(...given: string[]): Promise<Client> {
    if (!strange) {
      await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve))
      strange = open(at, (raw.address() as { port: number }).port)
    }
    connections.length = 0
    answers = given
    return dial(at)
  }

  /** Who answers on the connection after it has got all of `first`. */
  async function afterwards(client: Client, first: string, method = 'GET'): Promise<string> {
    client.socket.write(ask(method, '/api'))
    await until('the first answer', () => client.text === first)
    client.text = ''
    client.socket.write(KNOWN)
    await until('the second answer', () => client.text.includes(BY_FAST_PATH) || client.text.endsWith('!'))
    return client.text.includes(BY_FAST_PATH) ? 'fast path' : 'server'
  }

  test.each<[string, string, string, string]>([
    ['plain', 'GET', `${LENGTH_1}x`, 'fast path'],
    ['bytes after the end', 'GET', `${LENGTH_1}xy`, 'server'],
    ['two answers', 'GET', `${LENGTH_1}x${LENGTH_1}y`, 'server'],
    ['a body for HEAD', 'HEAD', `${LENGTH_1}x`, 'server'],
    ['an interim answer', 'GET', `HTTP/1.1 103 Early Hints\r\n\r\n${LENGTH_1}x`, 'server'],
    ['trailers', 'GET', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\r\n\r\n', 'server'],
    ['no length', 'GET', 'HTTP/1.1 200 OK\r\n\r\nx', 'server'],
    ['a promised end', 'GET', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx', 'server'],
    ['less than its length', 'GET', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx', 'server'],
    ['no HTTP', 'GET', 'hello', 'server'],
  ])('%s: %s', async (_, method, first, who) => {
    expect(await afterwards(await dialStrange(first), first, method)).toBe(who)
  })

  test('an answer before the request is whole', async () => {
    const client = await dialStrange(`${LENGTH_1}x`)
    client.socket.write(ask('POST', '/api', 'Content-Length: 3'))
    await until('the early answer', () => client.text.endsWith('x'))
    client.socket.write('abc')
    client.socket.write(KNOWN)
    await until('the answer', () => client.text.endsWith('!'))
  })

  test('bytes that nobody asked for end the connection, and do not become an answer', async () => {
    const client = await dialStrange(`${LENGTH_1}x`)
    expect(await afterwards(client, `${LENGTH_1}x`)).toBe('fast path')
    client.text = ''
    connections[0]?.write(`${LENGTH_1}evil`)
    await until('the end', () => client.ended)
    expect(client.text).toBe('')
  })

  test('the end of its connection while nothing is asked does not end the client’s', async () => {
    const client = await dialStrange(`${LENGTH_1}x`)
    expect(await afterwards(client, `${LENGTH_1}x`)).toBe('fast path')
    connections[0]?.end()
    await until('the end', () => connections[0]?.destroyed)
    client.text = ''
    client.socket.write(ask('GET', '/api'))
    await until('an answer over another connection', () => client.text.endsWith('!'))
    expect(connections).toHaveLength(2)
    expect(await whoAnswersStrange(client)).toBe('fast path')
  })

  test('the end of its connection in the middle of an answer ends the client’s', async () => {
    const half = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'
    const client = await dialStrange(half)
    client.socket.write(ask('GET', '/api'))
    await until('half an answer', () => client.text === half)
    connections[0]?.end()
    await until('the end', () => client.ended)
  })

  async function whoAnswersStrange(client: Client) {
    client.text = ''
    client.socket.write(KNOWN)
    await until('an answer', () => client.text.includes(BY_FAST_PATH) || client.text.endsWith('!'))
    return client.text.includes(BY_FAST_PATH) ? 'fast path' : 'server'
  }
})

test('stopping ends a connection that came back', async () => {
  const at = findFreePort()
  const stopping = open(at, behind.port as number)
  const client = await dial(at)
  client.socket.write(ask('GET', '/api'))
  await until('its answer', () => client.text.endsWith('GET /api 0'))
  expect(await whoAnswers(client)).toBe('fast path')
  stopping.stop()
  await until('the end', () => client.ended)
})

full(
  'a connection that came back ends when it is idle, and not while it is busy',
  async () => {
    const at = findFreePort()
    // Bun counts in steps of four seconds, and one step may be over at once.
    const impatient = open(at, behind.port as number, 5)
    const silent = await dial(at)
    const busy = await dial(at)
    for (const client of [silent, busy]) {
      client.socket.write(ask('GET', '/api'))
      await until('its answer', () => client.text.endsWith('GET /api 0'))
    }
    while (!silent.ended) expect(await whoAnswers(busy)).toBe('fast path')
    // Both had the same time.
    expect(await whoAnswers(busy)).toBe('fast path')
    expect(busy.ended).toBe(false)
    impatient.stop()
  },
  40_000,
)

describe('whatever is asked', () => {
  const redirecting = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 10,
    error: () => new Response('failed', { status: 500 }),
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/told' && request.method === 'POST') {
        return new Response(`told ${(await request.text()).length}`)
      }
      if (request.method !== 'GET' || !/^\/known\w*$/.test(pathname)) return respond(request)
      return new Response(null, { status: 302, headers: { Location: `https://example.com${pathname}` } })
    },
  })
  const at = findFreePort()
  const mixed = open(at, redirecting.port as number)
  afterAll(async () => {
    mixed.stop()
    await redirecting.stop(true)
  })

  const known = fc.stringMatching(/^\/known[a-z]{0,3}$/)
  const other = fc.constantFrom('/api', '/204', '/304', '/stream', '/unread', '/a/b', '/known+')
  const get = fc.tuple(fc.constantFrom('GET', 'HEAD'), fc.oneof(known, other)).map(([m, p]) => ask(m, p))
  const post = fc
    .tuple(fc.constantFrom('POST', 'PUT'), fc.oneof(fc.constant('/told'), other), fc.string({ maxLength: 9 }))
    .map(([method, path, body]) => `${ask(method, path, `Content-Length: ${body.length}`)}${body}`)
  const chunked = fc
    .tuple(other, fc.stringMatching(/^[a-z]{1,9}$/))
    .map(
      ([path, body]) =>
        `${ask('POST', path, 'Transfer-Encoding: chunked')}${body.length}\r\n${body}\r\n0\r\n\r\n`,
    )
  const request = fc.oneof(
    { weight: 4, arbitrary: known.map((path) => ask('GET', path)) },
    { weight: 2, arbitrary: get },
    { weight: 2, arbitrary: post },
    { weight: 1, arbitrary: chunked },
    { weight: 1, arbitrary: fc.constant(ask('POST', '/api', 'Expect: 100-continue', 'Content-Length: 0')) },
  )
  /** A request, whether the next one waits for its answer, and where its bytes are cut. */
  const step = fc.record({
    request,
    waits: fc.boolean(),
    cuts: fc.array(fc.nat({ max: 120 }), { maxLength: 3 }),
  })
  const conversation = fc.array(step, { minLength: 1, maxLength: 8 })

  /** Whether all of an answer has come; only HEAD is answered with the length of a body that does not follow. */
  function isWhole(answer: string, isHead: boolean): boolean {
    const [head = '', ...parts] = answer.split('\r\n\r\n')
    if (parts.length === 0) return false
    if (isHead || /^HTTP\/1\.1 (100|204|304)/.test(head)) return true
    const length = /^content-length: (\d+)$/im.exec(head)?.[1]
    return length ? parts.join('\r\n\r\n').length >= Number(length) : answer.endsWith('\r\n0\r\n\r\n')
  }

  /** Status, Location and body of each answer that has come as a whole, in order. */
  function answersIn(text: string, steps: Step[]): string[] {
    const heads = steps.flatMap(({ request }) =>
      request.includes('Expect:') ? [false, false] : [request.startsWith('HEAD')],
    )
    return text
      .split(/(?=HTTP\/1\.1 \d\d\d )/)
      .filter((answer, i) => isWhole(answer, heads[i] ?? false))
      .map((one) => {
        const [head = '', ...body] = one.split('\r\n\r\n')
        const location = /^location: (.*)$/im.exec(head)?.[1] ?? ''
        return `${head.slice(9, 12)} ${location.trim()} ${body.join('\r\n\r\n')}`
      })
  }

  interface Step {
    request: string
    waits: boolean
    cuts: number[]
  }

  async function hold(to: number, steps: Step[]) {
    const client = await dial(to)
    let expected = 0
    for (const { request, waits, cuts } of steps) {
      expected += answerCount(request)
      const places = [0, ...cuts.filter((cut) => cut < request.length).sort((a, b) => a - b), request.length]
      for (const [i, from] of places.slice(0, -1).entries()) {
        client.socket.write(request.slice(from, places[i + 1]))
        await new Promise((resolve) => setImmediate(resolve))
      }
      const answered = () => answersIn(client.text, steps).length >= expected
      if (waits) await until('the answer', () => client.ended || answered())
    }
    client.socket.write(LAST)
    await until('the end', () => client.ended)
    return answersIn(client.text, steps)
  }

  const LAST = ask('GET', '/last', 'Connection: close')
  const answerCount = (request: string) => (request.includes('Expect:') ? 2 : 1)

  test('the answers are those of the server alone, in their order', async () => {
    await fc.assert(
      fc.asyncProperty(conversation, async (steps) => {
        const patient = steps.map((each) => ({ ...each, waits: true }))
        const [alone, patiently, got] = await Promise.all([
          hold(redirecting.port as number, patient),
          hold(at, patient),
          hold(at, steps),
        ])
        expect(patiently).toEqual(alone)
        expect(alone.at(-1)).toEndWith('GET /last 0')
        // Bun's server may end a connection whose next request comes before it has answered; the answers until then
        // are still the right ones.
        expect(got).toEqual(alone.slice(0, got.length))
        if (steps.every(({ waits }) => waits)) expect(got).toEqual(alone)
      }),
      { numRuns: atScale({ quick: 25, full: 150, soak: 150 }) },
    )
  }, 120_000)
})
