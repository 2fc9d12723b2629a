import { afterAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import fc from 'fast-check'
import { atScale } from '../../../tests/support/suite.ts'
import type { Bytes } from './header-fields.ts'
import { createGetParser, createPostParser } from './request-parser.ts'

const read = createGetParser()
const head = (text: string) => read(Buffer.from(text, 'latin1') as Bytes)
const LINES = 'Host: go.example\r\nUser-Agent: Safari \t\r\nreferer:https://a.example/\r\nX-Empty:\r\n'

describe('a plain request', () => {
  test('is read: path, query, headers in any case and without the space around them', () => {
    const found = head(`GET /Spring-Sale_1.a?utm_source=x&y=%20 HTTP/1.1\r\n${LINES}\r\n`)
    expect(found).toMatchObject({ path: 'Spring-Sale_1.a', query: 'utm_source=x&y=%20', keepAlive: true })
    const values = ['host', 'user-agent', 'referer', 'x-empty', 'accept'].map((name) =>
      found?.headers.get(name),
    )
    expect(values).toEqual(['go.example', 'Safari', 'https://a.example/', '', null])
  })

  test.each([
    ['HTTP/1.1', 'Accept: */*', true],
    ['HTTP/1.1', 'Connection: Keep-Alive', true],
    ['HTTP/1.1', 'Connection: close', false],
    ['HTTP/1.0', 'Accept: */*', false],
    ['HTTP/1.0', 'Connection: keep-alive', false],
  ])('%s with "%s" stays open: %p', (version, line, keepAlive) => {
    expect(head(`GET /a ${version}\r\nHost: a\r\n${line}\r\n\r\n`)?.keepAlive).toBe(keepAlive)
  })

  test('has repeated headers joined, as Headers does', () => {
    const found = head(
      'GET /a HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\nx-forwarded-for: 2.2.2.2\r\n\r\n',
    )
    expect(found?.headers.get('x-forwarded-for')).toBe('1.1.1.1, 2.2.2.2')
  })
})

const REST = ' HTTP/1.1\r\nHost: a\r\n\r\n'
const withLine = (line: string) => `GET /a HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`
const UNUSUAL: [string, string][] = [
  ['nothing', ''],
  ['half a head', 'GET /a HTTP/1.1\r\nHost: a\r\n'],
  ['a head without its last byte', `GET /a HTTP/1.1\r\nHost: a\r\n\r`],
  ['two requests at once', `GET /a${REST}GET /b${REST}`],
  ['bytes after the head', `GET /a${REST}x`],
  ['another method', `POST /a${REST}`],
  ['a method in lower case', `get /a${REST}`],
  ['HEAD', `HEAD /a${REST}`],
  ['the root', `GET /${REST}`],
  ['a root with a query', `GET /?a${REST}`],
  ['an empty segment', `GET /a//b${REST}`],
  ['a step inside', `GET /a/./b${REST}`],
  ['a step back at the end', `GET /a/..${REST}`],
  ['a slash at the end', `GET /a/${REST}`],
  ['a step', `GET /.${REST}`],
  ['a step back', `GET /..${REST}`],
  ['an escape', `GET /%61${REST}`],
  ['a preview', `GET /a+${REST}`],
  ['a fragment', `GET /a?b#c${REST}`],
  ['a whole URL', `GET http://go.example/a${REST}`],
  ['letters outside ASCII', `GET /caf\xe9${REST}`],
  ['a space before the path', `GET  /a${REST}`],
  ['a tab before the version', 'GET /a\tHTTP/1.1\r\nHost: a\r\n\r\n'],
  ['no version', 'GET /a\r\n\r\n'],
  ['HTTP/2', 'GET /a HTTP/2.0\r\nHost: a\r\n\r\n'],
  ['HTTP/1.2', 'GET /a HTTP/1.2\r\nHost: a\r\n\r\n'],
  ['lines that end with LF alone', 'GET /a HTTP/1.1\nHost: a\n\n'],
  ['one line that ends with LF alone', 'GET /a HTTP/1.1\r\nHost: a\nContent-Length: 5\r\n\r\n'],
  ['a CR inside a line', withLine('X: a\rContent-Length: 5')],
  ['a NUL', withLine('X: a\0b')],
  ['a byte above 127', withLine('X: caf\xe9')],
  ['a folded line', withLine('X: a\r\n b')],
  ['a space before the colon', withLine('Content-Length : 5')],
  ['a line without a colon', withLine('Content-Length')],
  ['a name with a bracket', withLine('X(: a')],
  ['an empty name', withLine(': a')],
  ['a length', withLine('Content-Length: 0')],
  ['a coding', withLine('Transfer-Encoding: chunked')],
  ['an expectation', withLine('Expect: 100-continue')],
  ['an upgrade', withLine('Connection: Upgrade\r\nUpgrade: websocket')],
  ['a strange Connection', withLine('Connection: close, x')],
  ['two Connections', withLine('Connection: close\r\nConnection: close')],
  ['no Host', 'GET /a HTTP/1.1\r\nAccept: */*\r\n\r\n'],
  ['no header at all', 'GET /a HTTP/1.1\r\n\r\n'],
  ['two Hosts', withLine('Host: b')],
  ['an empty Host', 'GET /a HTTP/1.1\r\nHost:\r\n\r\n'],
  ['65 headers', withLine(Array.from({ length: 64 }, (_, i) => `X-${i}: a`).join('\r\n'))],
  ['17 KB', withLine(`X: ${'a'.repeat(17_000)}`)],
]

test.each(UNUSUAL)('is left to the server behind: %s', (_, text) => {
  expect(head(text)).toBeNull()
})

describe('a plain POST', () => {
  const readPost = createPostParser()
  const post = (text: string) => readPost(Buffer.from(text, 'utf8') as Bytes)
  const whole = (lines: string, body: string) => `POST /e HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n${body}`

  test('is read with its body', () => {
    expect(post(whole('content-length: 6\r\nX-A: b', '{"é":1')) ?? 'left').toBe('left')
    const found = post(whole('content-length: 8\r\nX-A: b', '{"é":1}'))
    expect(found).toMatchObject({ path: 'e', query: '', keepAlive: true })
    expect(found?.body()).toBe('{"é":1}')
    expect(found?.headers.get('x-a')).toBe('b')
    expect(post(whole('Content-Length: 4', '\ufeffa'))?.body()).toBe('a')
    expect(post(whole('Content-Length: 0', ''))?.body()).toBe('')
  })

  test.each<[string, string]>([
    ['no length', whole('X: a', '')],
    ['less body than it says', whole('Content-Length: 3', 'ab')],
    ['more than it says', whole('Content-Length: 3', 'abcd')],
    ['another request behind it', `${whole('Content-Length: 1', 'a')}${whole('Content-Length: 1', 'a')}`],
    ['two lengths', whole('Content-Length: 1\r\nContent-Length: 1', 'a')],
    ['a length with a sign', whole('Content-Length: +1', 'a')],
    ['a length in another base', whole('Content-Length: 0x1', 'a')],
    ['a length beyond all numbers', whole(`Content-Length: ${'9'.repeat(30)}`, 'a')],
    ['a length and a coding', whole('Content-Length: 1\r\nTransfer-Encoding: chunked', 'a')],
    ['an expectation', whole('Content-Length: 1\r\nExpect: 100-continue', 'a')],
    ['a GET', whole('Content-Length: 1', 'a').replace('POST', 'GET')],
    ['17 KB', whole('Content-Length: 17000', 'a'.repeat(17_000))],
  ])('is left to the server behind: %s', (_, text) => {
    expect(post(text)).toBeNull()
    expect(read(Buffer.from(text) as Bytes)).toBeNull()
  })
})

describe('what is read', () => {
  const seen: { url: string; headers: [string, string][] }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 10,
    fetch(request) {
      seen.push({ url: request.url, headers: [...request.headers] })
      return new Response('x')
    },
  })
  afterAll(() => server.stop(true))

  /** Sends bytes and waits for the first of an answer, or the end. */
  const send = (bytes: Buffer) =>
    new Promise<void>((resolve) => {
      const socket = connect(server.port as number, '127.0.0.1', () => socket.write(bytes))
      socket.on('data', () => socket.destroy())
      socket.on('error', () => resolve())
      socket.on('close', () => resolve())
      // The server does not answer half a request: its `idleTimeout` ends the connection.
    })

  const word = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/)
  const path = fc.array(word, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'))
  const name = fc.oneof(
    fc.constantFrom(...'User-Agent referer Accept Connection Content-Length X-Forwarded-For Te'.split(' ')),
    word,
    fc.string({ maxLength: 6 }),
  )
  const value = fc.oneof(
    fc.constantFrom('', 'close', 'keep-alive', '0', 'chunked', ' a ', 'a, b'),
    fc.string({ maxLength: 20 }),
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
      fc.oneof({ weight: 4, arbitrary: path }, { weight: 1, arbitrary: fc.string({ maxLength: 8 }) }),
      fc.oneof(
        { weight: 4, arbitrary: fc.constant('') },
        { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
      ),
      fc.array(line, { maxLength: 4 }),
    )
    .map(
      ([path, query, lines]) =>
        `GET /${path}${query && `?${query}`} HTTP/1.1\r\nHost: a\r\n${lines.map((parts) => parts.join('')).join('')}\r\n`,
    )
    // The low byte of a wide character may be the end of a line.
    .map((text) => Buffer.from(text, 'latin1').toString('latin1'))

  test('is what Bun’s server reads of the same bytes', async () => {
    let read = 0
    await fc.assert(
      fc.asyncProperty(request, async (text) => {
        const found = head(text)
        if (!found) return
        read++
        seen.length = 0
        const copy = { ...found, values: new Map<string, string | null>() }
        const names = text
          .split('\r\n')
          .slice(1, -2)
          .map((each) => each.slice(0, each.indexOf(':')).toLowerCase())
        for (const each of names) copy.values.set(each, found.headers.get(each))
        await send(Buffer.from(text, 'latin1'))
        expect(seen).toHaveLength(1)
        const { url, headers } = seen[0] as (typeof seen)[number]
        expect(url).toBe(`http://a/${copy.path}${text.includes(`/${copy.path}?`) ? `?${copy.query}` : ''}`)
        expect(new Map(headers)).toEqual(new Map([...copy.values].map(([each, text]) => [each, text ?? ''])))
      }),
      { numRuns: atScale({ quick: 500, full: 2000, soak: 2000 }) },
    )
    expect(read).toBeGreaterThan(50)
  })
})
