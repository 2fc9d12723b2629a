// Most problems are tried on a real ClickHouse. It runs as a library here, which has no TLS, no users of its own and one
// version: for these a small server answers with the codes and texts of ClickHouse 26.7.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  CLICKHOUSE_START_MS,
  type ClickHouseServer,
  getClickHouse,
} from '../../../../tests/support/clickhouse/clickhouse-server.ts'
import { createCertificate } from '../../../../tests/support/processes/certificate.ts'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { openClickHouse } from './engine.ts'
import { findClickHouseProblem } from './find-problem.ts'

let server: ClickHouseServer
const stops: (() => void)[] = []
beforeAll(async () => {
  server = await getClickHouse()
}, CLICKHOUSE_START_MS)
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

const PASSWORD = 'geheim-4711'

/** @returns the address of a server that gives the same answer to everything */
function answerAll(answer: () => Response, tls?: { key: string; cert: string }): string {
  const fake = Bun.serve({ port: 0, hostname: '127.0.0.1', tls, fetch: answer })
  stops.push(() => void fake.stop(true))
  return `http${tls ? 's' : ''}://reader:${PASSWORD}@127.0.0.1:${fake.port}/towpath`
}
const refuse = (status: number, code: number, text: string) =>
  answerAll(
    () =>
      new Response(`Code: ${code}. DB::Exception: ${text}`, {
        status,
        headers: { 'X-ClickHouse-Exception-Code': String(code) },
      }),
  )
/** A server whose answers to the first questions are these: version, readonly, the engine of the database, grants. */
const answerInTurn = (...values: string[]) =>
  answerAll(() => new Response(`${JSON.stringify([values.shift() ?? '0'])}\n`))

const withPart = (
  url: string,
  part: Partial<Record<'pathname' | 'password' | 'protocol' | 'port', string>>,
) => Object.assign(new URL(url), part).href

describe('ClickHouse', () => {
  test('that can be used has no problem, before and after its first use', async () => {
    const url = await server.createDatabase()
    expect(await findClickHouseProblem([url], 'mine')).toBeUndefined()
    await (await openClickHouse({ urls: [url], scratchDir: '/', instance: 'mine' })).close()
    expect(await findClickHouseProblem([url], 'mine')).toBeUndefined()
  })

  test('with a wrong password', async () => {
    const problem = await findClickHouseProblem([withPart(server.url, { password: PASSWORD })])
    expect(problem).toEqual({
      sentence:
        'ClickHouse refuses the user “towpath” or the password: correct them in CLICKHOUSE_URL, where a password has %40 for @ and %2F for /.',
      isTemporary: false,
    })
  })

  test('without the database', async () => {
    expect(await findClickHouseProblem([withPart(server.url, { pathname: '/nowhere' })])).toEqual({
      sentence:
        'ClickHouse has no database “nowhere”: run CREATE DATABASE `nowhere`, or correct the name at the end of CLICKHOUSE_URL.',
      isTemporary: false,
    })
  })

  test('that belongs to another installation, or to a newer version', async () => {
    const url = await server.createDatabase()
    await (await openClickHouse({ urls: [url], scratchDir: '/', instance: 'theirs' })).close()
    expect(await findClickHouseProblem([url], 'mine')).toEqual({
      sentence:
        'The ClickHouse database has the hits of another installation of Towpath: name an empty database in CLICKHOUSE_URL.',
      isTemporary: false,
    })
    await server.query(
      "INSERT INTO hit_layout VALUES (99, 'theirs', now64(3))",
      new URL(url).pathname.slice(1),
    )
    expect((await findClickHouseProblem([url], 'theirs'))?.sentence).toContain('layout 99 of a newer version')
  })

  test('on two servers that do not share their tables', async () => {
    const url = await server.createDatabase()
    expect(await findClickHouseProblem([url, url])).toEqual({
      sentence: expect.stringMatching(/^CLICKHOUSE_URL names several servers, .* or name one server\.$/),
      isTemporary: false,
    })
  })

  test('that is not there', async () => {
    const url = withPart(server.url, { port: String(findFreePort()) })
    expect(await findClickHouseProblem([url])).toEqual({
      sentence:
        'ClickHouse does not answer (ECONNREFUSED): start it, or correct the host and the port in CLICKHOUSE_URL.',
      isTemporary: true,
    })
    expect((await findClickHouseProblem(['http://nowhere.invalid:8123/x']))?.isTemporary).toBe(true)
  })

  test('with https where there is no TLS', async () => {
    expect(await findClickHouseProblem([withPart(server.url, { protocol: 'https:' })])).toEqual({
      sentence:
        'ClickHouse does not speak TLS on this port: use its HTTPS port, usually 8443, or http in CLICKHOUSE_URL.',
      isTemporary: false,
    })
  })
})

describe('what answers as ClickHouse does', () => {
  test.each([
    [403, 516, 'reader: Authentication failed: password is incorrect, or there is no user with such name.'],
    [403, 192, 'There is no user `reader` in user directories. (UNKNOWN_USER)'],
    [401, 194, 'reader: Authentication failed: password is required'],
  ])('with HTTP %d and code %d: the user or the password is wrong', async (status, code, text) => {
    const problem = await findClickHouseProblem([refuse(status, code, text)])
    expect(problem?.sentence).toContain('refuses the user “reader” or the password')
    expect(problem?.isTemporary).toBe(false)
  })

  test('too old a version', async () => {
    expect(await findClickHouseProblem([answerInTurn('25.8.31.4')])).toEqual({
      sentence: 'ClickHouse has version 25.8.31.4, and Towpath needs 26.3 or newer: update ClickHouse.',
      isTemporary: false,
    })
    for (const version of ['26.2.9.1', '9.1', '1.1.54380'])
      expect((await findClickHouseProblem([answerInTurn(version)]))?.sentence).toContain(
        'needs 26.3 or newer',
      )
    for (const version of ['26.3.1.1', '26.10.2.3', '27.1'])
      expect(await findClickHouseProblem([answerInTurn(version, '0', 'Atomic', '1', '1')])).toBeUndefined()
  })

  test('a user who may only read, as the profile and as the error says it', async () => {
    const sentence =
      'ClickHouse lets the user “reader” only read: give CLICKHOUSE_URL a user whose profile has readonly = 0.'
    expect(await findClickHouseProblem([answerInTurn('26.7.1.1', '2')])).toEqual({
      sentence,
      isTemporary: false,
    })
    const url = refuse(500, 164, "Cannot modify 'wait_end_of_query' setting in readonly mode. (READONLY)")
    expect((await findClickHouseProblem([url]))?.sentence).toBe(sentence)
  })

  test('a user without rights, as the grants and as the error say it', async () => {
    const sentence =
      'ClickHouse does not allow the user “reader” what Towpath must do: ' +
      'run GRANT SELECT, INSERT, CREATE TABLE, ALTER ADD COLUMN, ALTER UPDATE, ALTER DELETE ON `towpath`.* TO reader; GRANT CREATE TEMPORARY TABLE ON *.* TO reader;'
    expect(await findClickHouseProblem([answerInTurn('26.7.1.1', '0', 'Atomic', '0')])).toEqual({
      sentence,
      isTemporary: false,
    })
    expect((await findClickHouseProblem([answerInTurn('26.7.1.1', '0', 'Atomic', '1', '0')]))?.sentence).toBe(
      sentence,
    )
    const url = refuse(403, 497, 'reader: Not enough privileges. (ACCESS_DENIED)')
    expect((await findClickHouseProblem([url]))?.sentence).toBe(sentence)
  })

  test('a user who may not see what a replica lacks, behind one address', async () => {
    const lacking = answerInTurn('26.7.1.1', '0', 'Replicated', '1', '1', '0')
    expect((await findClickHouseProblem([lacking]))?.sentence).toEndWith(
      'GRANT SELECT ON system.replicas TO reader;',
    )
    const granted = answerInTurn('26.7.1.1', '0', 'Replicated', '1', '1', '1')
    expect(await findClickHouseProblem([granted])).toBeUndefined()
  })

  test('a server that has too much to do is temporary', async () => {
    const url = refuse(500, 202, 'Too many simultaneous queries. Maximum: 100.')
    expect(await findClickHouseProblem([url])).toMatchObject({ isTemporary: true })
  })
})

test('what is no ClickHouse', async () => {
  const native = 'Port 9000 is for clickhouse-client program\r\nYou must use port 8123 for HTTP.\r\n'
  expect(await findClickHouseProblem([answerAll(() => new Response(native, { status: 400 }))])).toEqual({
    sentence:
      'ClickHouse does not answer as ClickHouse does (HTTP 400): CLICKHOUSE_URL needs the port of ClickHouse’s HTTP interface, usually 8123, or 8443 with https.',
    isTemporary: false,
  })
  const page = await findClickHouseProblem([answerAll(() => new Response('<h1>Hello</h1>'))])
  expect(page?.sentence).toContain('does not answer as ClickHouse does')
  const proxy = await findClickHouseProblem([answerAll(() => new Response('bad gateway', { status: 502 }))])
  expect(proxy?.isTemporary).toBe(true)
})

describe('TLS', () => {
  const directory = mkdtempSync(join(tmpdir(), 'certificate-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  function readCertificate(host: string) {
    const { cert, key } = createCertificate(directory, host)
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  }

  test('with a certificate that cannot be trusted', async () => {
    let asked = 0
    const url = answerAll(() => {
      asked++
      return new Response()
    }, readCertificate('other.example'))
    expect(await findClickHouseProblem([url])).toEqual({
      sentence:
        'ClickHouse has a certificate that cannot be trusted (DEPTH_ZERO_SELF_SIGNED_CERT): give it one for the name in CLICKHOUSE_URL, or set NODE_EXTRA_CA_CERTS to the file of its authority.',
      isTemporary: false,
    })
    // The password was not sent.
    expect(asked).toBe(0)
  })
})

test('several servers: one that answers is enough, and a wrong password of any is said', async () => {
  const away = `http://reader:${PASSWORD}@127.0.0.1:${findFreePort()}/towpath`
  const answer = () => answerInTurn('26.7.1.1', '0', '1', '1', '1', 'Replicated')
  expect(await findClickHouseProblem([away, answer()])).toBeUndefined()
  expect((await findClickHouseProblem([away, away]))?.sentence).toStartWith(
    'ClickHouse server 1 of 2 does not answer',
  )
  const wrong = refuse(403, 516, 'reader: Authentication failed')
  expect((await findClickHouseProblem([answer(), wrong]))?.sentence).toStartWith(
    'ClickHouse server 2 of 2 refuses the user',
  )
})

test('no sentence and no error has the password or the address', async () => {
  const urls = [
    `http://reader:${PASSWORD}@127.0.0.1:${findFreePort()}/towpath`,
    refuse(403, 516, 'reader: Authentication failed'),
    refuse(500, 999, 'Keeper'),
    answerAll(() => new Response('x', { status: 500 })),
  ]
  for (const url of urls) {
    const opened = await openClickHouse({ urls: [url], scratchDir: '/' }).catch((error: Error) => error)
    const problem = await findClickHouseProblem([url])
    const words = `${Bun.inspect(opened)} ${problem?.sentence}`
    expect(problem).toBeDefined()
    expect(words).not.toContain(PASSWORD)
    expect(words).not.toContain('127.0.0.1')
  }
})
