// Receivers of webhooks and of channels of type http that hang, flood, redirect, or lead into the operator's network.

import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import net from 'node:net'
import { startWebhookReceiver } from '../../../../tests/support/fake-servers/webhook-receiver.ts'
import type { ResolveHost } from '../../../http/safe-request.ts'
import type { ChannelSender, DeliveryResult, SendNeeds } from './contract.ts'
import { sendHttp } from './http.ts'
import { createDestination, createNotice, SEND_NEEDS, toCompleteResult } from './notice.fixture.ts'
import { sendWebhook } from './webhook.ts'

const receiver = startWebhookReceiver()
const { port } = new URL(receiver.url)

/** Answers with bytes that need not be HTTP, and then says nothing more. */
let bytes = ''
const rawServer = net.createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', () => (bytes === '' ? socket.destroy() : socket.write(bytes)))
})
const rawPort = await new Promise<number>((resolve) =>
  rawServer.listen(0, '127.0.0.1', () => resolve((rawServer.address() as net.AddressInfo).port)),
)
/** Listens where no request may come. */
let reached = 0
const canary = net.createServer((socket) => {
  reached++
  socket.destroy()
})
await new Promise<void>((resolve) => canary.listen(Number(port), '127.0.0.2', resolve))
afterAll(async () => {
  await receiver.stop()
  rawServer.close()
  canary.close()
})

const secrets = [`whsec_${randomBytes(32).toString('base64')}`]
const TYPES: [string, ChannelSender][] = [
  ['webhook', sendWebhook],
  ['http', sendHttp],
]

const FLOOD = () =>
  new Response(new ReadableStream({ pull: (sink) => sink.enqueue(new Uint8Array(1024 * 1024)) }))
const redirectTo = (status: number, location: string) => () =>
  new Response(null, { status, headers: { location } })

const refused = { outcome: 'unreachable', httpStatus: null } as const
const METADATA = 'http://169.254.169.254/latest/meta-data'

type Answer = (() => Response | Promise<Response>) | string
/** The answer of the receiver: a response, or raw bytes. */
const ANSWERS: [string, Answer, Partial<DeliveryResult>][] = [
  ['hangs', () => new Promise<Response>(() => {}), { outcome: 'timeout' }],
  ['hangs after its head', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', { outcome: 'delivered' }],
  ['never ends its head', 'HTTP/1.1 200 OK\r\nX: y\r\n', { outcome: 'timeout' }],
  ['answers 64 MB', FLOOD, { outcome: 'delivered' }],
  ['has a head of 64 KB', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(65_536)}\r\n\r\n`, { outcome: 'unreachable' }],
  ['speaks no HTTP', 'SSH-2.0-OpenSSH_9.7\r\n', { outcome: 'unreachable' }],
  ['hangs up', '', { outcome: 'unreachable' }],
  ['is gone', redirectTo(410, ''), { permanent: expect.objectContaining({ what: 'channel' }) }],
  ...[301, 302, 303, 307, 308].map((status): [string, Answer, Partial<DeliveryResult>] => [
    `redirects to a private address with ${status}`,
    redirectTo(status, METADATA),
    { outcome: 'refused', httpStatus: status, permanent: undefined },
  ]),
  [
    'redirects to another port of its own',
    redirectTo(302, `http://127.0.0.2:${port}/`),
    { outcome: 'refused', httpStatus: 302 },
  ],
]

/** Addresses that are refused before a byte is sent. */
const ADDRESSES: [string, Partial<SendNeeds>][] = [
  ['http://localhost:1/', {}],
  [METADATA, {}],
  ['http://[::1]:1/', {}],
  [`http://[::ffff:127.0.0.1]:${port}/`, {}],
  [`http://2130706433:${port}/`, {}],
  [`http://0x7f.1:${port}/`, {}],
  [`http://0.0.0.0:${port}/`, {}],
  ['http://nowhere.invalid/', {}],
  [`http://hook.example:${port}/`, { resolve: async () => [{ address: '127.0.0.1', family: 4 }] }],
  [
    `http://hook.example:${port}/`,
    {
      resolve: async () => [
        { address: '93.184.216.34', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ],
    },
  ],
]

describe.each(TYPES)('a receiver of a channel of type %s', (_, send) => {
  const sendTo = (url: string, needs: Partial<SendNeeds> = {}) =>
    send(
      { ...SEND_NEEDS, timeoutMs: 400, ...needs },
      createDestination({ method: 'POST', body: '{"a": {{data}}}', secrets: { url, secrets } }),
      createNotice(),
    )

  test.each(ANSWERS)('that %s', async (_, answer, expected) => {
    if (typeof answer === 'string') bytes = answer
    else receiver.respondWith(answer)
    const before = receiver.requests.length
    const isRaw = typeof answer === 'string'
    const result = await sendTo(isRaw ? `http://127.0.0.1:${rawPort}/` : receiver.url)
    expect(toCompleteResult(result)).toMatchObject(expected)
    // A redirect is not followed, and nothing is sent twice.
    expect([receiver.requests.length - before, reached]).toEqual([isRaw ? 0 : 1, 0])
  })

  test.each(ADDRESSES)('that is %s gets nothing', async (url, needs) => {
    const before = receiver.requests.length
    const result = await sendTo(url, { allow: [], ...needs })
    expect(toCompleteResult(result)).toMatchObject({ ...refused, permanent: undefined })
    expect(result.request).toBeUndefined()
    expect([result.answer === null, receiver.requests.length - before, reached]).toEqual([false, 0, 0])
  })

  test('whose name changes between look-up and connection gets each request at the address that was checked', async () => {
    receiver.respondWith(() => new Response('ok'))
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.1', '10.0.0.1']
    let lookups = 0
    const resolve: ResolveHost = async () => [{ address: answers[lookups++] ?? '127.0.0.2', family: 4 }]
    const before = receiver.requests.length
    const outcomes: string[] = []
    for (const _ of answers)
      outcomes.push((await sendTo(`http://rebind.example:${port}/`, { resolve })).outcome)
    expect(outcomes).toEqual(['delivered', 'unreachable', 'delivered', 'unreachable'])
    // One look-up for each request, also where a connection is kept.
    expect([lookups, receiver.requests.length - before, reached]).toEqual([4, 2, 0])
  })
})
