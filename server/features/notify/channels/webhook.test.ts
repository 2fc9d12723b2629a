import { afterAll, beforeAll, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import {
  type ReceivedWebhook,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import type { DeliveryResult, Notice } from './contract.ts'
import { createDestination, createNotice, NOTICE_AT, SEND_NEEDS, toCompleteResult } from './notice.fixture.ts'
import { readRedirect } from './redirect-answer.ts'
import { sendWebhook } from './webhook.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

describe('a webhook', () => {
  const secret = newSecret()
  let receiver: WebhookReceiver
  beforeAll(() => {
    receiver = startWebhookReceiver()
    // The reference verifier refuses what is older than five minutes.
    setSystemTime(NOTICE_AT)
  })
  beforeEach(() => receiver.respondWith(() => new Response(null, { status: 204 })))
  afterAll(() => {
    setSystemTime()
    return receiver.stop()
  })

  const send = (over: Partial<Notice> = {}, secrets = [secret]): Promise<DeliveryResult> =>
    sendWebhook(
      SEND_NEEDS,
      createDestination({ secrets: { url: `${receiver.url}?a=b`, secrets } }),
      createNotice(over),
    )
  const last = () => {
    const { body: text, headers } = receiver.requests.at(-1) as ReceivedWebhook
    return { text, headers }
  }

  test('is verified by the reference verifier, and carries the submission byte for byte', async () => {
    const submissionJson = '{"id":7,"fields":{"b":"</script>\\u2028","10":"=1+1","__proto__":"x"},"n":1.50}'
    expect(await send({ submissionJson })).toMatchObject({
      outcome: 'delivered',
      httpStatus: 204,
      answer: null,
    })
    const { text, headers } = last()
    expect(new Webhook(secret).verify(text, headers)).toMatchObject({
      type: 'submission.created',
      timestamp: '2026-10-01T12:00:00.000Z',
    })
    expect(text).toBe(
      `{"type":"submission.created","timestamp":"2026-10-01T12:00:00.000Z","data":${submissionJson}}`,
    )
    expect(headers).toMatchObject({
      'webhook-id': 'msg_0123456789abcdefghijAB',
      'content-type': 'application/json; charset=utf-8',
    })
    expect(() => new Webhook(newSecret()).verify(text, headers)).toThrow()
    expect(() => new Webhook(secret).verify(`${text} `, headers)).toThrow()
  })

  test('is signed with both secrets during a rotation', async () => {
    const next = newSecret()
    await send({}, [next, secret])
    const { text, headers } = last()
    for (const known of [secret, next]) expect(new Webhook(known).verify(text, headers)).toBeTruthy()
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
  })

  test('has the same id and body in every attempt, and a new timestamp', async () => {
    const createdAt = NOTICE_AT - 86_400_000
    await send({ createdAt, at: NOTICE_AT - 60_000 })
    const first = last()
    await send({ createdAt })
    const second = last()
    expect(second.text).toBe(first.text)
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'] as string)
    const seconds = (sent: typeof first) => Number(sent.headers['webhook-timestamp'])
    expect(seconds(second) - seconds(first)).toBe(60)
    expect(new Webhook(secret).verify(second.text, second.headers)).toBeTruthy()
  })

  const http = (seconds: number) => new Date(seconds * 1000).toUTCString()
  test.each<[number, Record<string, string>, Partial<DeliveryResult>]>([
    [200, {}, { outcome: 'delivered' }],
    [202, { 'retry-after': '9' }, { outcome: 'delivered', retryAfterMs: undefined }],
    ...[301, 302, 303, 307, 308].map((status): [number, Record<string, string>, Partial<DeliveryResult>] => [
      status,
      { location: 'https://evil.example/login?a=b' },
      {
        outcome: 'refused',
        permanent: undefined,
        answer: 'answered with a redirect to https://evil.example/login?a=b; redirects are not followed',
      },
    ]),
    [307, {}, { outcome: 'refused', permanent: undefined }],
    [400, {}, { outcome: 'refused', permanent: undefined }],
    [404, {}, { outcome: 'refused', permanent: undefined }],
    [
      410,
      {},
      { outcome: 'refused', permanent: { what: 'channel', reason: expect.stringContaining('410') as never } },
    ],
    [429, { 'retry-after': '120' }, { outcome: 'refused', retryAfterMs: 120_000 }],
    [503, { 'retry-after': '999999999' }, { retryAfterMs: 86_400_000 }],
    [503, { 'retry-after': 'soon' }, { retryAfterMs: undefined }],
    [503, { 'retry-after': '-5' }, { retryAfterMs: undefined }],
    // By the receiver's own clock, wherever that stands.
    [503, { 'retry-after': http(90), date: http(0) }, { retryAfterMs: 90_000 }],
    [503, { 'retry-after': http(-90), date: http(0) }, { retryAfterMs: 0 }],
    [500, {}, { outcome: 'refused', retryAfterMs: undefined, permanent: undefined }],
  ])('that is answered %i %j', async (status, headers, result) => {
    receiver.respondWith(() => new Response('said so', { status, headers }))
    expect(toCompleteResult(await send())).toMatchObject({ httpStatus: status, answer: 'said so', ...result })
  })

  test('that is answered with a redirect to its own address says so, without secrets', async () => {
    const bare = randomBytes(32).toString('hex')
    receiver.respondWith(
      () => new Response('', { status: 302, headers: { location: `/elsewhere?key=${bare}` } }),
    )
    const { answer } = await send({}, [`whsec_${bare}`])
    const { origin } = new URL(receiver.url)
    expect(answer).toBe(
      `answered with a redirect to ${origin}/elsewhere?key=${'*'.repeat(64)}; redirects are not followed`,
    )
  })

  const SCRIPT = 'https://script.google.com/macros/s/AKfy-_1/exec'
  const OUTPUT = 'https://script.googleusercontent.com/macros/echo?user_content_key=x'
  test.each<[string, number, string, boolean | undefined]>([
    [SCRIPT, 302, OUTPUT, true],
    [`${SCRIPT}?sheet=1`, 302, OUTPUT, true],
    ['https://script.google.com/a/macros/example.com/s/AKfy/exec', 302, OUTPUT, true],
    ['https://script.google.com/macros/s/AKfy/dev', 302, OUTPUT, false],
    [SCRIPT, 302, 'https://accounts.google.com/ServiceLogin', false],
    [SCRIPT, 302, 'https://script.googleusercontent.com.evil.example/', false],
    ['https://evil.example/macros/s/AKfy/exec', 302, OUTPUT, false],
    [SCRIPT, 200, OUTPUT, undefined],
  ])('to %s that answers %i %s', (url, status, location, isDelivered) => {
    expect(readRedirect(url, { status, headers: new Headers({ location }) })?.isDelivered).toBe(isDelivered)
  })

  test('stores a kilobyte of the answer, without secrets', async () => {
    const bare = Buffer.from('??>>'.repeat(9)).toString('base64')
    expect(bare).toContain('/')
    receiver.respondWith(
      () =>
        new Response(
          `\0<html>whsec_${bare} ${bare} ${encodeURIComponent(bare)} ${bare.replaceAll('/', '\\/')} ${'漢'.repeat(900)}`,
          {
            status: 500,
          },
        ),
    )
    const { answer } = await send({}, [`whsec_${bare}`])
    expect(Buffer.byteLength(answer ?? '')).toBeLessThanOrEqual(1024)
    expect(answer).toStartWith('<html>***')
    expect(answer).toEndWith('漢…')
    expect(answer).not.toContain(bare.slice(0, 4))
  })

  test('is not tried with a wrong address or without a secret', async () => {
    for (const secrets of [{ url: 'ftp://x/', secrets: [secret] }, { url: receiver.url }, {}]) {
      expect(await sendWebhook(SEND_NEEDS, createDestination({ secrets }), createNotice())).toMatchObject({
        outcome: 'unreachable',
        permanent: { what: 'channel' },
      })
    }
  })
})
