// Malformed requests that no browser sends: each one ends, none is answered with 5xx, and no cut body is stored.

import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import {
  BEHIND_PROXY,
  createTestForm,
  NAVIGATION_HEADERS,
  nextSenderAddress,
  sendTo,
  URLENCODED_TYPE,
} from '../../../../tests/support/form-requests.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { onSqlite, startServer, type TestServer } from '../../../../tests/support/world.ts'
import { setLogLevel } from '../../../lib/log.ts'

const HEAD = (key: string, headers: string) =>
  `POST /f/${key} HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Mode: cors\r\nX-Forwarded-For: ${nextSenderAddress()}\r\nContent-Type: ${URLENCODED_TYPE}\r\n${headers}\r\n`

/** Sends the pieces in order and ends the request. @returns the answer, or an empty text where there is none */
function speak(server: TestServer, pieces: string[], { end = true } = {}): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let heard = ''
  const socket = connect(Number(new URL(server.origin).port), '127.0.0.1', async () => {
    socket.setNoDelay(true)
    for (const piece of pieces) {
      await new Promise((written) => socket.write(Buffer.from(piece, 'latin1'), written))
      // The server, in this process, reads each piece alone.
      await new Promise(setImmediate)
    }
    if (end) socket.end()
  })
  socket.on('data', (chunk) => {
    heard += chunk.toString('latin1')
    // The server may keep the connection of a broken request open for a while.
    if (heard.includes('\r\n\r\n')) socket.destroy()
  })
  socket.on('error', () => {})
  socket.on('close', () => resolve(heard))
  return promise
}

onSqlite(
  'a malformed request',
  (server) => {
    const CHUNKED = 'Transfer-Encoding: chunked\r\n'
    const MIB = Array(9).fill(`20000\r\n${'x'.repeat(0x20000)}\r\n`)
    const LATIN = 'Referer: https://\xff\xfe\r\nOrigin: \xe9\r\nAccept: \xe9\r\nUser-Agent: \xff\r\n'
    const length = (bytes: number | string) => `Content-Length: ${bytes}\r\n`
    const OK = /^HTTP\/1.1 200/
    const [REFUSED, TOO_LARGE] = [/^(HTTP\/1.1 400|$)/, /^(HTTP\/1.1 413|$)/]
    /** Its headers, its body in pieces, the answer, and how many submissions it stores; -1 for either. */
    quick.each<[string, string, string[], RegExp, number]>([
      ['whole', length(3), ['a=1'], OK, 1],
      ['byte by byte', length(3), [...'a=1'], OK, 1],
      ['in chunks', CHUNKED, ['1\r\na\r\n', '2\r\n=1\r\n', '0\r\n\r\n'], OK, 1],
      ['in chunks beyond the limit', CHUNKED, [...MIB, '0\r\n\r\n'], TOO_LARGE, 0],
      ['that announces too much', length(2_000_000), ['a=1'], TOO_LARGE, 0],
      ['with a body that is cut off', length(30), ['a=1'], REFUSED, 0],
      ['with chunks that are cut off', CHUNKED, ['5\r\na=1'], REFUSED, 0],
      ['with a chunk without a length', CHUNKED, ['zz\r\na=1\r\n0\r\n\r\n'], REFUSED, 0],
      ['with a length that is none', length('x'), ['a=1'], REFUSED, 0],
      ['with two lengths', length(3) + length(5), ['a=1&b'], REFUSED, 0],
      [
        'with both ways to tell the length',
        length(3) + CHUNKED,
        ['3\r\na=1\r\n0\r\n\r\n'],
        /^(HTTP\/1.1 (400|200)|$)/,
        -1,
      ],
      ['without a length', '', [], OK, 1],
      [
        'with bytes above ASCII in its headers',
        `${length(3)}${LATIN}X-Request-Id: \xe9\xe9\r\n`,
        ['a=1'],
        OK,
        1,
      ],
    ])('%s', async (_, headers, body, answer, count) => {
      const form = await createTestForm(server())
      const heard = await speak(server(), [HEAD(form.key, headers), ...body], { end: count !== 1 })
      expect(heard).toMatch(answer)
      expect(heard).not.toMatch(/^HTTP\/1.1 5/)
      if (count >= 0) expect(await form.fields()).toHaveLength(count)
      expect((await form.fetch('a=1')).text).toBe('{"ok":true}')
    })

    test.each([
      '\r\nSet-Cookie: a=b',
      '%0d%0aSet-Cookie: a=b',
      '\u0000',
      '\ud800',
      'https://a.example/\r\nX: y',
    ])('puts no line break of %j into a header', async (text) => {
      const form = await createTestForm(server(), { requiredFields: ['email'] })
      const fields = { _next: text, [text]: text, email: 'a@b.co' }
      for (const body of [fields, { ...fields, email: text }]) {
        const form64 = Object.entries(body).map(
          ([name, value]) =>
            `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
        )
        const answer = await form.navigate(form64.join('&'), { Referer: 'https://site.example/' })
        expect(answer.status).toBe(303)
        expect(answer.headers.get('set-cookie')).toBeNull()
        expect(answer.headers.get('x')).toBeNull()
        expect(answer.headers.get('location')).toMatch(/^https:\/\/[!-~]+$/)
        const json = await form.json(body)
        expect([200, 422]).toContain(json.status)
      }
    })
  },
  BEHIND_PROXY,
)

test('the log has what an operator needs, but nothing that was typed and no address', async () => {
  const lines: string[] = []
  const streams = [process.stdout, process.stderr]
  const writes = streams.map((stream) => stream.write)
  const server = await startServer('sqlite', {
    environment: { ...BEHIND_PROXY.environment, LOG_LEVEL: 'info' },
  })
  setLogLevel('info')
  for (const stream of streams) stream.write = ((line: string) => lines.push(line) > 0) as typeof stream.write
  try {
    const form = await createTestForm(server, { requiredFields: ['name'] })
    const headers = {
      ...NAVIGATION_HEADERS,
      'X-Forwarded-For': '198.51.100.77',
      Referer: 'https://site.example/?q=sekret',
      'X-Request-Id': 'request-of-a-test',
    }
    await form.post(URLENCODED_TYPE, 'name=sekret&sekret=1&_next=https%3A%2F%2Fsekret.example', headers)
    await form.post(URLENCODED_TYPE, 'email=sekret', headers)
    await form.json('{"sekret', headers)
    await sendTo(server, 'sekret').navigate('a=1', headers)
  } finally {
    streams.forEach((stream, i) => {
      stream.write = writes[i] as typeof stream.write
    })
    setLogLevel('silent')
    await server.close()
  }
  const requests = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'form_request')
  expect(requests.map(({ status, requestId }) => [status, requestId])).toEqual(
    [303, 303, 400, 404].map((status) => [status, 'request-of-a-test']),
  )
  expect(lines.join('')).not.toMatch(/sekret|198\.51\.100/)
})
