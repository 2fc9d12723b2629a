// Messages as the chat services receive them, and the results of their refusals.

import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import type { ChatServer } from '../../../../tests/support/fake-servers/chat-server.ts'
import { DISCORD_PATH, startFakeDiscord } from '../../../../tests/support/fake-servers/discord.ts'
import { SLACK_PATH, startFakeSlack } from '../../../../tests/support/fake-servers/slack.ts'
import { startFakeTeams, TEAMS_PATH } from '../../../../tests/support/fake-servers/teams.ts'
import {
  startFakeTelegram,
  TELEGRAM_CHAT,
  TELEGRAM_TOKEN,
} from '../../../../tests/support/fake-servers/telegram.ts'
import type { ChannelType } from '../schema.ts'
import type { ChannelDestination, ChannelSecrets, DeliveryResult, Notice } from './contract.ts'
import { createDestination, createNotice, SEND_NEEDS, toCompleteResult } from './notice.fixture.ts'
import { channelSenders } from './registry.ts'

type Chat = Extract<ChannelType, 'slack' | 'discord' | 'telegram' | 'teams'>

interface Service {
  start(): ChatServer
  /** A channel of this service. */
  to(origin: string): ChannelDestination
  /** The parts of it that open the door. */
  secrets: string[]
  /** Its wrong addresses and tokens, and who has to know. */
  wrong: [string, Partial<ChannelDestination> & { secrets: ChannelSecrets }][]
}

const at = (url: string) => ({ secrets: { url } })

const SERVICES: Record<Chat, Service> = {
  slack: {
    start: startFakeSlack,
    to: (origin) => createDestination(at(origin + SLACK_PATH)),
    secrets: [SLACK_PATH, 'cAnArYsLaCkToKeN123456Zz'],
    wrong: [
      ['a wrong token', at('/services/T0/B0/wrong')],
      ['no hook', at('/')],
    ],
  },
  discord: {
    start: startFakeDiscord,
    to: (origin) => createDestination(at(origin + DISCORD_PATH)),
    secrets: [DISCORD_PATH, DISCORD_PATH.split('/').at(-1) as string],
    wrong: [
      ['a wrong token', at(`${DISCORD_PATH}x`)],
      ['no webhook', at('/api/webhooks/1/x')],
    ],
  },
  telegram: {
    start: startFakeTelegram,
    to: () => createDestination({ chatId: TELEGRAM_CHAT, secrets: { botToken: TELEGRAM_TOKEN } }),
    secrets: [TELEGRAM_TOKEN, TELEGRAM_TOKEN.split(':')[1] as string],
    wrong: [
      ['an unknown bot', { chatId: TELEGRAM_CHAT, secrets: { botToken: '1:a' } }],
      ['a malformed token', { chatId: TELEGRAM_CHAT, secrets: { botToken: '../x?y' } }],
      ['an unknown chat', { chatId: '7', secrets: { botToken: TELEGRAM_TOKEN } }],
    ],
  },
  teams: {
    start: startFakeTeams,
    to: (origin) => createDestination(at(origin + TEAMS_PATH)),
    secrets: [TEAMS_PATH, 'cAnArYtEaMs-0123456789_abcdefghijklmnopqrst'],
    wrong: [
      ['a wrong signature', at(`${TEAMS_PATH}x`)],
      ['no workflow', at('/workflows/none')],
    ],
  },
}

const json = (status: number, body: unknown, headers = {}) => Response.json(body, { status, headers })
const text = (status: number, body = '', headers = {}) => new Response(body, { status, headers })
const telegramNo = (code: number, description: string, parameters?: object) =>
  json(code, { ok: false, error_code: code, description, parameters })
const MOVED = 'Bad Request: group chat was upgraded to a supergroup chat'
const NO_RIGHTS = 'Bad Request: not enough rights to send text messages to the chat'
const teamsNo = (code: string) => json(400, { error: { code } })

type Refusal = [what: string, answer: () => Response, then: 'channel' | 'message' | number | undefined]

/** Documented refusals: what is over afterwards, or how long to wait. */
const REFUSALS: Record<Chat, Refusal[]> = {
  slack: [
    ['an archived channel', () => text(410, 'channel_is_archived'), 'channel'],
    ['a prohibited action', () => text(403, 'action_prohibited'), 'channel'],
    ['a user who left', () => text(400, 'user_not_found'), 'channel'],
    ['blocks it does not like', () => text(400, 'invalid_blocks'), 'message'],
    ['its own trouble', () => text(500, 'rollup_error'), undefined],
    ['too many messages', () => text(429, 'rate_limited', { 'retry-after': '30' }), 30_000],
    ['a proxy before it', () => text(403, '<html>Blocked</html>'), undefined],
  ],
  discord: [
    ['a forum', () => json(400, { code: 220_001, message: 'Webhooks posted to forum' }), 'channel'],
    ['a body it does not like', () => json(400, { code: 50_035, message: 'Invalid' }), 'message'],
    ['too many messages', () => json(429, { message: 'x', retry_after: 64.57, global: false }), 64_570],
    ['a header alone', () => text(429, '', { 'retry-after': '7' }), 7000],
    ['the proxy before it', () => text(403, 'error code: 1015'), undefined],
    ['its own trouble', () => text(502), undefined],
  ],
  telegram: [
    ['a bot that was blocked', () => telegramNo(403, 'Forbidden: bot was blocked by the user'), 'channel'],
    ['a group that moved', () => telegramNo(400, MOVED, { migrate_to_chat_id: -1 }), 'channel'],
    ['no right to write', () => telegramNo(400, NO_RIGHTS), 'channel'],
    ['a text too long', () => telegramNo(400, 'Bad Request: message is too long'), 'message'],
    ['too many messages', () => telegramNo(429, 'Too Many Requests', { retry_after: 35 }), 35_000],
    ['its own trouble', () => telegramNo(500, 'Internal Server Error'), undefined],
    ['a proxy before it', () => text(404, 'no'), undefined],
  ],
  teams: [
    ['a workflow switched off', () => teamsNo('WorkflowTriggerIsNotEnabled'), 'channel'],
    ['a card it does not like', () => teamsNo('TriggerInputSchemaMismatch'), 'message'],
    ['a body too large', () => text(413), 'message'],
    ['too many messages', () => text(429, '', { 'retry-after': '11' }), 11_000],
    ['its own trouble', () => text(504), undefined],
    ['a place that is gone', () => text(410), 'channel'],
  ],
}

describe.each(Object.entries(SERVICES) as [Chat, Service][])('%s', (type, service) => {
  let receiver: ChatServer
  beforeAll(() => {
    receiver = service.start()
  })
  afterAll(() => receiver.close())

  const send = (over: Partial<Notice> = {}, to = service.to(receiver.origin)): Promise<DeliveryResult> =>
    channelSenders[type]({ ...SEND_NEEDS, telegramApi: receiver.origin }, to, createNotice(over))

  test('accepts a submission, the longest too, and a test', async () => {
    const before = receiver.accepted.length
    const long = new Map(Array.from({ length: 256 }, (_, i) => [`field ${i}`, '<&漢👩*'.repeat(9000)]))
    for (const over of [{}, { fields: long }, { event: 'test' as const, fields: new Map() }]) {
      const result = await send(over)
      expect(toCompleteResult(result)).toMatchObject({ outcome: 'delivered', permanent: undefined })
      expect(result.answer ?? '').not.toContain('Ada')
    }
    expect(receiver.accepted.length - before).toBe(3)
  })

  test.each(service.wrong)('refuses %s permanently', async (_, wrong) => {
    const { url } = wrong.secrets
    const secrets = url ? { url: receiver.origin + url } : wrong.secrets
    const result = await send({}, createDestination({ ...wrong, secrets }))
    expect(result).toMatchObject({ outcome: 'refused', permanent: { what: 'channel' } })
  })

  test.each(REFUSALS[type])('refuses because of %s', async (_, answer, then) => {
    receiver.answerWith(answer)
    const { outcome, permanent, retryAfterMs } = await send()
    expect(outcome).toBe('refused')
    expect(permanent?.what ?? retryAfterMs).toBe(then)
  })

  test('redirects are not followed', async () => {
    receiver.answerWith(() => text(302, '', { location: `${receiver.origin}/elsewhere` }))
    expect(await send()).toMatchObject({ outcome: 'refused', httpStatus: 302 })
    expect(receiver.requests.filter(({ path }) => path === '/elsewhere')).toEqual([])
  })

  test('a slow answer is a timeout', async () => {
    receiver.answerWith(() => new Promise<Response>(() => {}))
    const late = await channelSenders[type](
      { ...SEND_NEEDS, telegramApi: receiver.origin, timeoutMs: 100 },
      service.to(receiver.origin),
      createNotice(),
    )
    expect(toCompleteResult(late)).toMatchObject({
      outcome: 'timeout',
      httpStatus: null,
      permanent: undefined,
    })
  })

  test('a private address is refused unless the operator allows it', async () => {
    const before = receiver.requests.length
    const closed = { ...SEND_NEEDS, allow: [], telegramApi: receiver.origin }
    expect(await channelSenders[type](closed, service.to(receiver.origin), createNotice())).toMatchObject({
      outcome: 'unreachable',
      httpStatus: null,
    })
    expect(receiver.requests.length).toBe(before)
  })

  test('an answer that repeats secrets is masked', async () => {
    const written: string[] = []
    const spies = [process.stdout, process.stderr].map((stream) =>
      spyOn(stream, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0),
    )
    const { url, botToken } = service.to(receiver.origin).secrets
    const echoes = [
      `POST ${url ?? botToken} failed`,
      JSON.stringify({ url, botToken, ok: false, description: `for ${botToken}`, message: url }).replaceAll(
        '/',
        '\\/',
      ),
      `see ${encodeURIComponent(url ?? botToken ?? '')} or ${(url ?? botToken ?? '').toLowerCase()}`,
      `${'x'.repeat(1010)}${service.secrets.at(-1)}`,
      service.secrets.at(-1)?.repeat(100) ?? '',
    ]
    const results: DeliveryResult[] = []
    for (const status of [200, 400, 401, 404, 500]) {
      for (const echo of echoes) {
        receiver.answerWith(
          ({ path, text: body }) => new Response(`${echo} ${path} ${body.slice(0, 30)}`, { status }),
          () => new Response(echo, { status, headers: { 'content-type': 'application/json' } }),
        )
        results.push(await send(), await send())
      }
    }
    await receiver.close()
    results.push(await send())
    for (const spy of spies) spy.mockRestore()
    const kept = (JSON.stringify(results) + written.join('')).toLowerCase()
    for (const secret of service.secrets) {
      // Nor the greater part of one.
      expect(kept).not.toContain(secret.toLowerCase().slice(0, Math.ceil(secret.length / 2)))
      expect(kept).not.toContain(secret.toLowerCase().slice(Math.ceil(secret.length / 2)))
    }
    for (const { answer } of results) expect(Buffer.byteLength(answer ?? '')).toBeLessThanOrEqual(1024)
    expect(results.at(-1)).toMatchObject({ outcome: 'unreachable', httpStatus: null })
  })

  test('a channel without its settings is not tried', async () => {
    expect(await send({}, createDestination())).toMatchObject({
      outcome: 'unreachable',
      permanent: { what: 'channel' },
    })
  })
})
