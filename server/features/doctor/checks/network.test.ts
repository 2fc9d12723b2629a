// The checks of incoming and outgoing connections: on real sockets.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMailServer } from '../../../../tests/support/fake-servers/mail-server.ts'
import { createCertificate } from '../../../../tests/support/processes/certificate.ts'
import { type Network, parseNetwork } from '../../../lib/ip-network.ts'
import { createPatient, type DoctorPatient, GOOD_SECRET, summarize } from '../doctor.fixture.ts'
import { toEcho } from '../echo.ts'
import { createDoctorRoutes } from '../public.ts'
import { askThroughProxy, checkAddress, judgeEcho, judgeTrustedNetworks } from './address.ts'
import { checkMail } from './mail.ts'
import { checkTls, judgeCertificate, judgeRedirect } from './tls.ts'

const NOW = Date.UTC(2026, 5, 11, 12)

let patient: DoctorPatient
let dir: string
beforeAll(async () => {
  patient = await createPatient()
  dir = mkdtempSync(join(tmpdir(), 'towpath-doctor-tls-'))
})
afterAll(async () => {
  await patient.end()
  rmSync(dir, { recursive: true, force: true })
})

const networks = (...texts: string[]) => texts.map((text) => parseNetwork(text) as Network)

describe('the public address', () => {
  const serve = (trustProxy: Network[], secret = GOOD_SECRET) => {
    const needs = {
      secret,
      trustProxy,
      now: () => NOW,
      listOwnFindings: async () => [],
      inspectHits: async () => undefined,
    }
    const routes = createDoctorRoutes(needs)
    return Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request, server) => routes.answer(request, server),
    })
  }
  /** A proxy on this machine. @param change what it does with X-Forwarded-For */
  const proxy = (to: string, change: (headers: Headers) => void) =>
    Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const headers = new Headers(request.headers)
        change(headers)
        return fetch(to + new URL(request.url).pathname, { headers })
      },
    })
  const ask = async (origin: string) =>
    summarize(await askThroughProxy(patient.needs({ now: () => NOW }, { origin })))

  test('is well when the server sees its visitor through a proxy', async () => {
    const server = serve(networks('127.0.0.1'))
    const front = proxy(server.url.origin, (headers) => headers.set('x-forwarded-for', '198.51.100.9'))
    expect(await ask(front.url.origin)).toBe(
      `ok: ${front.url.origin} leads here through 127.0.0.1, and the server sees 198.51.100.9.`,
    )
    await Promise.all([front.stop(true), server.stop(true)])
  })

  test('is a problem when TRUST_PROXY lacks the proxy', async () => {
    const server = serve([])
    const front = proxy(server.url.origin, (headers) => headers.set('x-forwarded-for', '198.51.100.9'))
    expect(await ask(front.url.origin)).toContain('problem: The server does not trust the proxy at 127.0.0.1')
    await Promise.all([front.stop(true), server.stop(true)])
  })

  test('is a problem when a proxy passes on what visitors claim', async () => {
    const server = serve(networks('127.0.0.1'))
    const front = proxy(server.url.origin, () => {})
    expect(await ask(front.url.origin)).toContain(
      'problem: Clients can claim any address: 127.0.0.1 is in TRUST_PROXY',
    )
    await Promise.all([front.stop(true), server.stop(true)])
  })

  test('is a problem when something else answers, and a warning when nothing does', async () => {
    const stranger = serve([], 'another secret of thirty-two characters')
    expect(await ask(stranger.url.origin)).toContain('is answered by another server (HTTP 404)')
    await stranger.stop(true)
    expect(await ask(stranger.url.origin)).toMatch(/^warning: .* could not be reached from this machine/)
  })

  test('judges what the server saw', () => {
    const judge = (
      peer: string,
      forwardedFor: string | null,
      trusted: Network[],
      origin = 'https://go.example',
    ) => {
      const headers = new Headers(forwardedFor === null ? {} : { 'x-forwarded-for': forwardedFor })
      return summarize([judgeEcho(toEcho(peer, headers, trusted), { origin, ownAddresses: ['10.0.0.5'] })])
    }
    const FORGED = '203.0.113.77'
    const everybody = networks('0.0.0.0/0')
    expect(judge('10.0.0.2', null, networks('10.0.0.2'))).toContain('does not send X-Forwarded-For')
    expect(judge('8.8.8.8', FORGED, [], 'http://go.example')).toStartWith(
      'ok: http://go.example leads here without',
    )
    expect(judge('10.0.0.2', `${FORGED}, 8.8.8.8`, networks('10.0.0.2'))).toStartWith('ok')
    expect(judge('10.0.0.2', `${FORGED}, 8.8.8.8`, everybody)).toContain('TRUST_PROXY names')
    // The doctor itself came from an address that TRUST_PROXY names: no alarm.
    expect(judge('10.0.0.2', `${FORGED}, 10.0.0.5`, networks('10.0.0.0/8'))).toStartWith('ok')
  })

  test('is a warning for an address of this machine, and a problem for a TRUST_PROXY with strangers', async () => {
    const local = await checkAddress(patient.needs({}, { origin: 'http://localhost:3000' }))
    expect(summarize(local)).toStartWith('warning: Short links begin with http://localhost:3000')
    expect(summarize(judgeTrustedNetworks(networks('0.0.0.0/0')))).toContain(
      'problem: TRUST_PROXY names 0.0.0.0/0',
    )
    expect(judgeTrustedNetworks(networks('10.0.0.0/8', 'fd00::/64'))).toEqual([])
  })

  test('answers nobody without a token of its secret, and no token for another purpose or of yesterday', async () => {
    const server = serve([])
    const status = async (path: string, authorization: string) =>
      (await fetch(`${server.url.origin}/api/doctor/${path}`, { headers: { authorization } })).status
    const { createOperatorToken } = await import('../operator-token.ts')
    const token = (purpose: 'echo' | 'findings', now = NOW) =>
      `Bearer ${createOperatorToken(GOOD_SECRET, purpose, now)}`
    expect(await status('echo', token('echo'))).toBe(200)
    expect(await status('findings', token('findings'))).toBe(200)
    expect(await status('findings', token('echo'))).toBe(404)
    expect(await status('inspection', token('echo'))).toBe(404)
    expect(await status('echo', token('echo', NOW - 3_600_000))).toBe(404)
    expect(await status('echo', 'Bearer x.y')).toBe(404)
    expect(await status('echo', '')).toBe(404)
    await server.stop(true)
  })
})

describe('TLS', () => {
  const DAY = 86_400_000

  test('is a problem with a certificate that nobody has signed', async () => {
    const { cert, key } = createCertificate(dir, 'go.localtest.me')
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.2',
      tls: { cert: Bun.file(cert), key: Bun.file(key) },
      fetch: () => new Response(''),
    })
    const { requestFromOperator } = await import('../../../http/operator-request.ts')
    const answer = await requestFromOperator({ url: `https://127.0.0.2:${server.port}/`, timeoutMs: 5000 })
    if ('reason' in answer || !answer.certificate) throw new Error(JSON.stringify(answer))
    expect(answer.certificate.problem).toBeString()
    const found = summarize(judgeCertificate('go.example', answer.certificate, NOW))
    expect(found).toContain('problem: The certificate of go.example is not trusted')
    await server.stop(true)
  })

  test('is a warning before the end of a certificate, and a problem after it', () => {
    const judge = (validUntil: number) => summarize(judgeCertificate('go.example', { validUntil }, NOW))
    expect(judge(NOW - DAY)).toContain('problem: The certificate of go.example expired on')
    expect(judge(NOW + 5.5 * DAY)).toContain('warning: The certificate of go.example ends in 5 days')
    expect(judge(NOW + 60 * DAY)).toBe('')
  })

  test('is a warning without https, and without a redirect to it', async () => {
    const check = async (origin: string) => summarize(await checkTls(patient.needs({}, { origin })))
    expect(await check('http://go.example')).toContain('warning: http://go.example has no TLS')
    expect(await check('http://localhost:3000')).toStartWith('skipped')
    expect(summarize(judgeRedirect('go.example', { status: 200, location: undefined }))).toStartWith(
      'warning',
    )
    expect(judgeRedirect('go.example', { status: 308, location: 'https://go.example/' })).toEqual([])
    expect(judgeRedirect('go.example', undefined)).toEqual([])
  })
})

describe('mail', () => {
  const check = async (smtpUrl: string, mailTo?: string) =>
    summarize(await checkMail(patient.needs({ mailTo }, { smtpUrl, mailFrom: 'go@towpath.example' })))

  test('is well when the server takes the password, and sends a mail where one is asked for', async () => {
    const server = await startMailServer({ password: 'right' })
    expect(await check(server.url('user:right@'))).toMatch(/^ok: .* accepts email/)
    expect(server.mails).toEqual([])
    expect(await check(server.url('user:right@'), 'you@example.com')).toMatch(
      /^ok: .* accepted the test email: 250/,
    )
    expect(server.mails.map(({ to }) => to)).toEqual([['you@example.com']])
    expect(await check(server.url('user:right@'), 'gone@example.com')).toContain('User unknown')
    await server.stop()
  })

  test('is a problem with a wrong password, which no finding repeats', async () => {
    const server = await startMailServer({ password: 'right' })
    const found = await check(server.url('user:hunter2x@'))
    expect(found).toContain('problem: Email cannot be sent')
    expect(found).toContain('it refuses the user or the password')
    expect(found).not.toContain('hunter2x')
    await server.stop()
  })

  test('is a problem whose words repeat no password that the server says back', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.write('220 mail.example\r\n')
      socket.on('data', (line) =>
        socket.write(
          String(line).startsWith('AUTH')
            ? '535 hunter2x is wrong\r\n'
            : '250-mail.example\r\n250 AUTH PLAIN\r\n',
        ),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    expect(await check(`smtp://user:hunter2x@127.0.0.1:${port}`)).toContain('(535 ••• is wrong)')
    server.close()
  })

  test('is a problem when STARTTLS is missing or nobody answers, and a warning without a server', async () => {
    const server = await startMailServer()
    expect(await check(`${server.url()}?requireTLS=true`)).toContain('STARTTLS')
    await server.stop()
    expect(await check('smtp://127.0.0.1:9')).toContain('problem: Email cannot be sent through 127.0.0.1:9')
    expect(summarize(await checkMail(patient.needs()))).toStartWith('warning: SMTP_URL is not set')
  })
})
