import { afterAll, afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { createServer } from 'node:net'
import {
  type SiteverifyServer,
  startSiteverify,
} from '../../../../tests/support/fake-servers/turnstile-siteverify.ts'
import { findFreePort } from '../../../../tests/support/processes/free-port.ts'
import { setLogLevel } from '../../../lib/log.ts'
import { createCaptchaProvider } from './create-captcha-provider.ts'
import { createTurnstile } from './turnstile.ts'

const NOW = Date.UTC(2026, 4, 10, 12)
const SECRET = '0x4AAAAAAA-secret-of-the-operator'
const FORM = 'abcdefghjk'
const OURS = { action: 'form', cdata: FORM }
const ADDRESS = '203.0.113.7'

const written: string[] = []
const out = spyOn(process.stdout, 'write')
const err = spyOn(process.stderr, 'write')
const keepLines = (text: unknown) => written.push(String(text)) > 0

let verifier: SiteverifyServer
beforeEach(() => {
  verifier = startSiteverify(SECRET)
  setLogLevel('info')
  for (const stream of [out, err]) stream.mockImplementation(keepLines)
})
afterEach(async () => {
  await verifier.close()
  written.length = 0
})
afterAll(() => {
  for (const stream of [out, err]) stream.mockRestore()
  setLogLevel('silent')
})

const captcha = (over: { verifyUrl?: string; secretKey?: string; timeoutMs?: number } = {}) =>
  createTurnstile({
    keys: {
      siteKey: '0xsite',
      secretKey: over.secretKey ?? SECRET,
      verifyUrl: over.verifyUrl ?? verifier.url,
    },
    now: () => NOW,
    timeoutMs: over.timeoutMs,
  })

type Opened = ReturnType<typeof captcha>

const counted = (opened: Opened) =>
  Object.fromEntries(
    opened
      .metrics()
      .filter(({ value }) => value > 0)
      .map(({ labels, value }) => [labels?.outcome, value]),
  )
const events = () => written.map((line) => JSON.parse(line).event as string)
const ask = (opened: Opened, token: string, origins?: string[]) =>
  opened.check({ formKey: FORM, token, address: ADDRESS, origins })

test('gives the page the site key, and not the secret', () => {
  expect(captcha().describe(FORM)).toEqual({ provider: 'turnstile', siteKey: '0xsite' })
})

test('Turnstile is used where the operator has keys for it', () => {
  const keys = { siteKey: '0xsite', secretKey: SECRET, verifyUrl: verifier.url }
  expect(
    createCaptchaProvider({ secret: 'x'.repeat(32), turnstile: keys, now: () => NOW }).describe(FORM),
  ).toMatchObject({
    provider: 'turnstile',
  })
})

test('verifies a token with the secret, the sender’s address and an idempotency key', async () => {
  const opened = captcha()
  const token = verifier.createToken(OURS)
  expect(await ask(opened, token)).toBeDefined()
  expect(verifier.requests).toEqual([
    {
      secret: SECRET,
      response: token,
      remoteip: ADDRESS,
      idempotency_key: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    },
  ])
  expect(counted(opened)).toEqual({ passed: 1 })
  expect(written).toEqual([])
})

describe('the reply must match the form: token from', () => {
  const origins = ['https://shop.example', 'https://www.shop.example:8443', 'https://*.shop.test']
  test.each([
    ['nothing said', {}, origins, 'passed'],
    ['our action and form', OURS, [], 'passed'],
    ['another action', { ...OURS, action: 'login' }, [], 'foreign'],
    ['another form', { ...OURS, cdata: 'zzzzzzzzzz' }, [], 'foreign'],
    ['an allowed site', { ...OURS, hostname: 'www.shop.example' }, origins, 'passed'],
    ['another site', { ...OURS, hostname: 'shop.example.evil.example' }, origins, 'foreign'],
    ['below an allowed site', { ...OURS, hostname: 'a.b.shop.test' }, origins, 'passed'],
    ['beside what is below it', { ...OURS, hostname: 'shop.test' }, origins, 'foreign'],
    ['a name that ends like it', { ...OURS, hostname: 'myshop.test' }, origins, 'foreign'],
    ['another site, where any is allowed', { ...OURS, hostname: 'evil.example' }, [], 'passed'],
  ])('%s', async (_, widget, allowed, outcome) => {
    const opened = captcha()
    const good = await ask(opened, verifier.createToken(widget), allowed)
    expect([good !== undefined, counted(opened)]).toEqual([outcome === 'passed', { [outcome]: 1 }])
    expect(events()).toEqual(outcome === 'passed' ? [] : ['turnstile_token_for_another'])
  })
})

describe('a token is refused', () => {
  test('when Cloudflare never made it', async () => {
    const opened = captcha()
    expect(await ask(opened, 'XXXX.DUMMY.TOKEN.XXXX')).toBeUndefined()
    expect(counted(opened)).toEqual({ refused: 1 })
    expect(verifier.requests).toHaveLength(1)
    expect(written).toEqual([])
  })

  test('when it was used before', async () => {
    const opened = captcha()
    const token = verifier.createToken(OURS)
    expect(await ask(opened, token)).toBeDefined()
    expect(await ask(opened, token)).toBeUndefined()
    expect(counted(opened)).toEqual({ passed: 1, refused: 1 })
  })

  test('when it is longer than Cloudflare’s tokens, without a request', async () => {
    const opened = captcha()
    expect(await ask(opened, 'x'.repeat(2049))).toBeUndefined()
    expect([counted(opened), verifier.requests]).toEqual([{ refused: 1 }, []])
    await ask(opened, 'x'.repeat(2048))
    expect(verifier.requests).toHaveLength(1)
  })

  test.each([['bad-request'], ['missing-input-response'], ['a-code-of-next-year']])('at %s', async (code) => {
    const opened = captcha()
    verifier.answerWith(() => Response.json({ success: false, 'error-codes': [code] }, { status: 400 }))
    expect(await ask(opened, 'x')).toBeUndefined()
    expect([counted(opened), verifier.requests.length]).toEqual([{ refused: 1 }, 1])
  })
})

describe('a failing verifier gets one retry with the same idempotency key', () => {
  const internal = () => Response.json({ success: false, 'error-codes': ['internal-error'] })
  test.each([
    ['a 500', () => new Response('oops', { status: 500 })],
    ['a 503', () => Response.json({ success: true }, { status: 503 })],
    ['internal-error', internal],
  ])('%s', async (_, answer) => {
    const opened = captcha()
    verifier.answerWith(answer)
    const token = verifier.createToken(OURS)
    expect(await ask(opened, token)).toBeDefined()
    expect(verifier.requests).toHaveLength(2)
    expect(verifier.requests[1]).toEqual(verifier.requests[0] as Record<string, string>)
    expect(counted(opened)).toEqual({ passed: 1 })
  })

  test('also when its first answer was lost after it used the token', async () => {
    const opened = captcha()
    const token = verifier.createToken(OURS)
    // The verifier has checked the token, and the connection broke before its answer.
    verifier.answerWith(async () => {
      const { idempotency_key = '' } = verifier.requests[0] ?? {}
      const body = new URLSearchParams({ secret: SECRET, response: token, idempotency_key })
      await fetch(verifier.url, { method: 'POST', body })
      return new Response('', { status: 502 })
    })
    expect(await ask(opened, token)).toBeDefined()
  })

  test.each([
    ['500 twice', () => new Response('oops', { status: 500 }), 'status 500'],
    ['internal-error twice', internal, 'internal-error'],
  ])('and no second retry: %s', async (_, answer, reason) => {
    const opened = captcha()
    verifier.answerWith(answer, answer, answer)
    expect(await ask(opened, verifier.createToken(OURS))).toBeUndefined()
    expect([counted(opened), verifier.requests.length]).toEqual([{ unavailable: 1 }, 2])
    expect(written.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', event: 'turnstile_unavailable', reason },
    ])
  })
})

describe('a token is refused without a usable answer', () => {
  test.each([
    ['not JSON', () => new Response('<h1>Welcome</h1>')],
    ['JSON of something else', () => Response.json([true])],
    ['a success that is no boolean', () => Response.json({ success: 'true' })],
    ['a redirect', () => Response.redirect('http://127.0.0.1:9/steal', 307)],
    ['too many requests', () => new Response('slow down', { status: 429 })],
  ])('%s', async (_, answer) => {
    const opened = captcha()
    verifier.answerWith(answer)
    expect(await ask(opened, verifier.createToken(OURS))).toBeUndefined()
    expect([counted(opened), verifier.requests.length]).toEqual([{ unavailable: 1 }, 1])
    expect(events()).toEqual(['turnstile_unavailable'])
  })

  test('silence, within the time limit', async () => {
    const opened = captcha({ timeoutMs: 60 })
    let answerAtLast = (_: Response) => {}
    verifier.answerWith(() => new Promise((resolve) => (answerAtLast = resolve)))
    expect(await ask(opened, verifier.createToken(OURS))).toBeUndefined()
    answerAtLast(new Response())
    expect([counted(opened), verifier.requests.length]).toEqual([{ unavailable: 1 }, 1])
    expect(JSON.parse(written[0] ?? '{}')).toMatchObject({ reason: 'TimeoutError' })
  })

  test('an answer that never ends', async () => {
    const opened = captcha({ timeoutMs: 60 })
    verifier.answerWith(
      () => new Response(new ReadableStream({ start: (c) => c.enqueue('{"success":true') })),
    )
    expect(await ask(opened, verifier.createToken(OURS))).toBeUndefined()
    expect(counted(opened)).toEqual({ unavailable: 1 })
  })

  test('no server at the address', async () => {
    const opened = captcha({ verifyUrl: `http://127.0.0.1:${findFreePort()}/siteverify` })
    expect(await ask(opened, 'x')).toBeUndefined()
    expect([counted(opened), events()]).toEqual([{ unavailable: 1 }, ['turnstile_unavailable']])
  })

  test('a broken connection is retried', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      if (connections === 1) return socket.destroy()
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 16\r\nConnection: close\r\n\r\n{"success":true}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const opened = captcha({ verifyUrl: `http://127.0.0.1:${port}/` })
    expect(await ask(opened, 'x')).toBeDefined()
    expect([connections, counted(opened)]).toEqual([2, { passed: 1 }])
    server.close()
  })
})

test('a secret that Cloudflare does not know counts as misconfigured, and the log says so', async () => {
  const opened = captcha({ secretKey: '0xanother-secret' })
  expect(await ask(opened, verifier.createToken(OURS))).toBeUndefined()
  expect(counted(opened)).toEqual({ misconfigured: 1 })
  expect(JSON.parse(written[0] ?? '{}')).toMatchObject({ level: 'error', event: 'turnstile_secret_refused' })
})

test('Cloudflare’s testing keys work on every site any number of times, and the log warns', async () => {
  const secretKey = '1x0000000000000000000000000000000AA'
  const opened = captcha({ secretKey })
  expect(events()).toEqual(['turnstile_testing_key'])
  const answer = () =>
    Response.json({ success: true, hostname: 'example.com', metadata: { result_with_testing_key: true } })
  verifier.answerWith(answer, answer)
  for (const _ of [1, 2]) {
    const good = await ask(opened, 'XXXX.DUMMY.TOKEN.XXXX', ['https://shop.example'])
    expect(await good?.spend(undefined as never)).toBe(true)
  }
})

test('the log has no secret, no token and no address', async () => {
  const token = verifier.createToken({ ...OURS, cdata: 'zzzzzzzzzz' })
  await ask(captcha(), token)
  await ask(captcha({ secretKey: '0xanother-secret' }), token)
  await ask(captcha({ verifyUrl: `http://127.0.0.1:${findFreePort()}/siteverify` }), token)
  expect(events()).toHaveLength(3)
  for (const hidden of [SECRET, '0xanother-secret', token, ADDRESS])
    expect(written.join()).not.toContain(hidden)
})
