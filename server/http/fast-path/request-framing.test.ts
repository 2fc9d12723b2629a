import { afterAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import fc from 'fast-check'
import { atScale } from '../../../tests/support/suite.ts'
import { createRequestFraming, readRequest } from './request-framing.ts'

/** The state after the pieces, each read from a buffer that is used again. */
function stateAfter(...pieces: (string | Buffer)[]): string {
  const framing = createRequestFraming()
  for (const piece of pieces) {
    const buffer = Buffer.from(piece as string, 'latin1')
    readRequest(framing, buffer)
    buffer.fill('#')
  }
  return framing.state
}

const withLines = (start: string, ...lines: string[]) =>
  `${start} HTTP/1.1\r\nHost: a\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`

const WHOLE: [string, string][] = [
  ['a GET', withLines('GET /v1/links?limit=1')],
  ['the root', withLines('GET /')],
  ['a preview', withLines('GET /known+')],
  ['HEAD', withLines('HEAD /known')],
  ['OPTIONS', withLines('OPTIONS /f/x')],
  ['a POST with a body', `${withLines('POST /f/x', 'Content-Length: 3')}abc`],
  ['a POST with an empty body', withLines('POST /f/x', 'Content-Length: 0')],
  ['a POST without a length', withLines('POST /f/x')],
  ['PATCH', `${withLines('PATCH /v1/links/1', 'content-length:2')}{}`],
  ['DELETE', withLines('DELETE /v1/links/1')],
  ['a connection that is kept', withLines('GET /a', 'Connection: Keep-Alive')],
  ['a body that looks like a request', `${withLines('POST /a', 'Content-Length: 8')}GET / HT`],
]

test.each(WHOLE)('ends with its last byte, however it is split: %s', (_, text) => {
  expect(stateAfter(text)).toBe('complete')
  expect(stateAfter(...text)).toBe('complete')
  for (let at = 1; at < text.length; at++) {
    expect([at, stateAfter(text.slice(0, at))]).not.toEqual([at, 'complete'])
    expect([at, stateAfter(text.slice(0, at), text.slice(at))]).toEqual([at, 'complete'])
  }
})

test.each(WHOLE)('is uncertain with a byte more: %s', (_, text) => {
  expect(stateAfter(`${text}G`)).toBe('uncertain')
  expect(stateAfter(text, 'G')).toBe('uncertain')
  expect(stateAfter(text, 'G', withLines('ET /'))).toBe('uncertain')
})

test.each<[string, string]>([
  ['two requests', withLines('GET /a') + withLines('GET /b')],
  ['a coding', `${withLines('POST /a', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
  [
    'a coding and a length',
    `${withLines('POST /a', 'Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`,
  ],
  ['an expectation', withLines('POST /a', 'Expect: 100-continue', 'Content-Length: 0')],
  ['an upgrade', withLines('GET /a', 'Connection: Upgrade', 'Upgrade: websocket')],
  ['an end of the connection', withLines('GET /a', 'Connection: close')],
  ['a list of connection options', withLines('GET /a', 'Connection: keep-alive, x')],
  ['a GET with a length', withLines('GET /a', 'Content-Length: 0')],
  ['HEAD with a length', withLines('HEAD /a', 'Content-Length: 0')],
  ['two lengths', withLines('POST /a', 'Content-Length: 0', 'Content-Length: 0')],
  ['a length with a sign', withLines('POST /a', 'Content-Length: +0')],
  ['a length with a zero before it', `${withLines('POST /a', 'Content-Length: 01')}a`],
  ['a length in another base', withLines('POST /a', 'Content-Length: 0x0')],
  ['a length beyond all numbers', withLines('POST /a', `Content-Length: ${'9'.repeat(30)}`)],
  ['an empty length', withLines('POST /a', 'Content-Length:')],
  ['a space before the colon', withLines('POST /a', 'Content-Length : 0')],
  ['a folded line', withLines('POST /a', 'X: a\r\n Content-Length: 3')],
  ['a line that ends with LF alone', withLines('POST /a', 'X: a\nContent-Length: 3')],
  ['a CR inside a line', withLines('POST /a', 'X: a\rContent-Length: 3')],
  ['a NUL', withLines('GET /a', 'X: \0')],
  ['a byte above 127', withLines('GET /a', 'X: caf\xe9')],
  ['no Host', 'GET /a HTTP/1.1\r\n\r\n'],
  ['two Hosts', withLines('GET /a', 'Host: b')],
  ['HTTP/1.0', 'GET /a HTTP/1.0\r\nHost: a\r\n\r\n'],
  ['an unknown method', withLines('PROPFIND /a')],
  ['CONNECT', withLines('CONNECT a:443')],
  ['a whole URL', withLines('GET http://a/b')],
  ['an asterisk', withLines('OPTIONS *')],
  ['a tab in the request line', 'GET\t/a HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an empty line before it', `\r\n${withLines('GET /a')}`],
  ['65 fields', withLines('GET /a', ...Array.from({ length: 64 }, (_, i) => `X-${i}: a`))],
  ['17 KB of fields', withLines('GET /a', ...Array.from({ length: 17 }, () => `X: ${'a'.repeat(1000)}`))],
])('is uncertain: %s', (_, text) => {
  expect(stateAfter(text)).toBe('uncertain')
  expect(stateAfter(...text)).toBe('uncertain')
})

test('a head without an end is given up after 16 KB', () => {
  expect(stateAfter('GET /a HTTP/1.1\r\nX: ', 'a'.repeat(20_000))).toBe('uncertain')
})

describe('where a request ends', () => {
  const seen: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 10,
    async fetch(request) {
      seen.push(`${request.method} ${(await request.arrayBuffer()).byteLength}`)
      return new Response('x')
    },
  })
  afterAll(() => server.stop(true))

  /** Sends bytes; resolves when the server has read the request after them, or refused the connection. */
  const send = (bytes: string) =>
    new Promise<void>((resolve) => {
      const socket = connect(server.port as number, '127.0.0.1', () => socket.write(bytes, 'latin1'))
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk
        if (text.split('HTTP/1.1 ').length > 2) socket.destroy()
      })
      socket.on('error', () => resolve())
      socket.on('close', () => resolve())
      // The server does not answer half a request: its `idleTimeout` ends the connection.
    })

  const name = fc.oneof(
    fc.constantFrom(...'Content-Length content-length Transfer-Encoding Connection Expect Accept'.split(' ')),
    fc.string({ maxLength: 6 }),
  )
  const value = fc.oneof(
    fc.constantFrom(
      '',
      'close',
      'keep-alive',
      '0',
      '1',
      '3',
      ' 3 ',
      '03',
      '+3',
      '3, 3',
      'chunked',
      'identity',
    ),
    fc.string({ unit: 'binary', maxLength: 6 }),
  )
  const line = fc.tuple(
    name,
    fc.constantFrom(':', ': ', ' :', ':\t'),
    value,
    fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'),
  )
  const request = fc
    .tuple(
      fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'post', 'QUERY'),
      fc.oneof(fc.stringMatching(/^[!-~]{0,8}$/), fc.string({ maxLength: 4 })),
      fc.array(line, { maxLength: 2 }),
      fc.constantFrom('none', 'right', 'right', 'other'),
      fc.string({ maxLength: 5 }),
    )
    .map(([method, path, lines, length, body]) => {
      const fields = lines.map((parts) => parts.join('')).join('')
      const own =
        length === 'none' ? '' : `Content-Length: ${length === 'right' ? body.length : body.length ^ 1}\r\n`
      return `${method} /${path} HTTP/1.1\r\nHost: a\r\n${fields}${own}\r\n${body}`
    })

  test('is where Bun’s server reads its end, and the next one’s beginning', async () => {
    let told = 0
    await fc.assert(
      fc.asyncProperty(request, async (text) => {
        if (stateAfter(text) !== 'complete') return
        told++
        seen.length = 0
        const body = text.slice(text.indexOf('\r\n\r\n') + 4)
        await send(`${text}OPTIONS /next HTTP/1.1\r\nHost: a\r\n\r\n`)
        // The server ends the connection when it refuses the request target. Then there is nothing left to compare.
        if (seen.length === 0) return
        expect(seen).toEqual([`${text.split(' ', 1)[0]} ${body.length}`, 'OPTIONS 0'])
      }),
      { numRuns: atScale({ quick: 600, full: 3000, soak: 3000 }) },
    )
    expect(told).toBeGreaterThan(50)
  }, 60_000)
})
