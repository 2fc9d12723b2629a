import { afterAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import fc from 'fast-check'
import { createResponseFraming, readResponse } from './response-framing.ts'

/** The state after the pieces, each read from a buffer that is used again. */
function stateAfter(method: string, ...pieces: (string | Buffer)[]): string {
  const framing = createResponseFraming()
  for (const piece of pieces) {
    const buffer = Buffer.from(piece as string, 'latin1')
    readResponse(framing, buffer, method)
    buffer.fill('#')
  }
  return framing.state
}

const answer = (status: string, ...lines: string[]) =>
  `HTTP/1.1 ${status}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
const CHUNKED = 'Transfer-Encoding: chunked'

const WHOLE: [string, string, string][] = [
  ['a length', 'GET', `${answer('200 OK', 'Content-Length: 3')}abc`],
  ['an empty body', 'GET', answer('302 Found', 'Content-Length: 0')],
  ['an empty reason', 'GET', answer('404 ', 'content-length: 0')],
  ['a refusal', 'POST', `${answer('413 Content Too Large', 'Content-Length: 2')}{}`],
  ['a failure', 'GET', `${answer('500 Internal Server Error', 'Content-Length: 2')}{}`],
  [
    'chunks',
    'GET',
    `${answer('200 OK', CHUNKED)}3\r\nabc\r\n0010\r\n0123456789abcdef\r\nA\r\n0123456789\r\n0\r\n\r\n`,
  ],
  ['no chunk but the last', 'GET', `${answer('200 OK', CHUNKED)}0\r\n\r\n`],
  ['chunks that look like an answer', 'GET', `${answer('200 OK', CHUNKED)}9\r\n0\r\n\r\nHTTP\r\n0\r\n\r\n`],
  ['204', 'DELETE', answer('204 No Content')],
  ['304', 'GET', answer('304 Not Modified', 'ETag: "a"')],
  ['304 with the length of what was not sent', 'GET', answer('304 Not Modified', 'Content-Length: 900')],
  ['an answer to HEAD', 'HEAD', answer('200 OK', 'Content-Length: 900')],
  ['an answer to HEAD without a length', 'HEAD', answer('200 OK')],
  ['a connection that is kept', 'GET', answer('200 OK', 'Connection: keep-alive', 'Content-Length: 0')],
]

test.each(WHOLE)('ends with its last byte, however it is split: %s', (_, method, text) => {
  expect(stateAfter(method, text)).toBe('complete')
  expect(stateAfter(method, ...text)).toBe('complete')
  for (let at = 1; at < text.length; at++) {
    expect([at, stateAfter(method, text.slice(0, at))]).not.toEqual([at, 'complete'])
    expect([at, stateAfter(method, text.slice(0, at), text.slice(at))]).toEqual([at, 'complete'])
  }
})

test.each(WHOLE)('is uncertain with a byte more: %s', (_, method, text) => {
  expect(stateAfter(method, `${text}H`)).toBe('uncertain')
  expect(stateAfter(method, text, 'H')).toBe('uncertain')
})

test.each<[string, string, string]>([
  ['an interim answer', 'POST', answer('100 Continue')],
  ['an early hint', 'GET', answer('103 Early Hints', 'Link: </a>')],
  ['another protocol', 'GET', answer('101 Switching Protocols', 'Upgrade: websocket')],
  ['the end of the connection', 'GET', answer('200 OK', 'Connection: close', 'Content-Length: 0')],
  ['a body until the connection ends', 'GET', `${answer('200 OK')}abc`],
  ['HTTP/1.0', 'GET', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['two lengths', 'GET', answer('200 OK', 'Content-Length: 0', 'Content-Length: 0')],
  ['a strange length', 'GET', `${answer('200 OK', 'Content-Length: 0x1')}a`],
  ['a length and a coding', 'GET', `${answer('200 OK', CHUNKED, 'Content-Length: 5')}0\r\n\r\n`],
  ['two codings', 'GET', `${answer('200 OK', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`],
  ['trailers', 'GET', `${answer('200 OK', CHUNKED)}0\r\nX: a\r\n\r\n`],
  ['announced trailers', 'GET', `${answer('200 OK', 'Trailer: X', CHUNKED)}0\r\n\r\n`],
  ['an extension of a chunk', 'GET', `${answer('200 OK', CHUNKED)}1;a=b\r\na\r\n0\r\n\r\n`],
  ['a chunk without a size', 'GET', `${answer('200 OK', CHUNKED)}\r\na`],
  ['a chunk of a strange size', 'GET', `${answer('200 OK', CHUNKED)}-1\r\na`],
  ['a chunk of more than 4 GB', 'GET', `${answer('200 OK', CHUNKED)}000000001\r\na`],
  ['a chunk longer than its size', 'GET', `${answer('200 OK', CHUNKED)}1\r\nab\r\n0\r\n\r\n`],
  ['chunks whose lines end with LF alone', 'GET', `${answer('200 OK', CHUNKED)}1\na\n0\n\n`],
  ['chunks at 204', 'GET', `${answer('204 No Content', CHUNKED)}0\r\n\r\n`],
  ['a length at 204', 'GET', `${answer('204 No Content', 'Content-Length: 1')}a`],
  ['chunks for HEAD', 'HEAD', answer('200 OK', CHUNKED)],
  ['a line that ends with LF alone', 'GET', answer('200 OK', 'X: a\nContent-Length: 0')],
  ['a byte above 127', 'GET', answer('200 OK', 'X: \xe9', 'Content-Length: 0')],
  ['no status', 'GET', 'HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n'],
  ['17 KB of fields', 'GET', answer('200 OK', ...Array.from({ length: 17 }, () => `X: ${'a'.repeat(1000)}`))],
])('is uncertain: %s', (_, method, text) => {
  expect(stateAfter(method, text)).toBe('uncertain')
})

describe('where an answer ends', () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const [, kind, size] = new URL(request.url).pathname.split('/')
      const body = 'x'.repeat(Number(size))
      if (kind === 'stream') return new Response(streamOf(body))
      if (kind === '204' || kind === '304') return new Response(null, { status: Number(kind) })
      return new Response(body, { status: Number(kind) })
    },
  })
  afterAll(() => server.stop(true))

  const streamOf = (text: string) =>
    new ReadableStream({
      async start(controller) {
        for (let at = 0; at < text.length; at += 400) {
          controller.enqueue(text.slice(at, at + 400))
          await Promise.resolve()
        }
        controller.close()
      },
    })

  /** All bytes of the answers to some requests, of which the last ends the connection. */
  const ask = (bytes: string) =>
    new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(server.port as number, '127.0.0.1', () => socket.write(bytes))
      socket.setEncoding('latin1')
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(text))
    })

  const LAST = 'GET /418/0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const cases = fc.tuple(
    fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE'),
    fc.constantFrom('200', '204', '304', '404', '500', 'stream'),
    fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 5000 })),
    fc.array(fc.nat({ max: 400 }), { maxLength: 4 }),
  )

  test('is where Bun’s server begins the next one', async () => {
    let told = 0
    await fc.assert(
      fc.asyncProperty(cases, async ([method, kind, size, cuts]) => {
        const text = await ask(`${method} /${kind}/${size} HTTP/1.1\r\nHost: a\r\n\r\n${LAST}`)
        const first = text.slice(0, text.indexOf('HTTP/1.1 418'))
        const places = [0, ...cuts.sort((a, b) => a - b), first.length]
        const pieces = places.slice(1).map((to, i) => first.slice(places[i], to))
        const state = stateAfter(method, ...pieces.filter((piece) => piece !== ''))
        if (state === 'complete') told++
        // Uncertain only where the server announces chunks that HEAD does not get.
        else expect([state, method, kind]).toEqual(['uncertain', 'HEAD', 'stream'])
        expect(stateAfter(method, first.slice(0, -1))).not.toBe('complete')
      }),
      { numRuns: 300 },
    )
    expect(told).toBeGreaterThan(200)
  }, 60_000)
})
