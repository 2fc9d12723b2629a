// Channels of type slack on chat servers that take Slack's incoming webhooks: Mattermost and Rocket.Chat.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ChatServer } from '../../../../tests/support/fake-servers/chat-server.ts'
import {
  MATTERMOST_PATH,
  ROCKET_CHAT_PATH,
  startFakeMattermost,
  startFakeRocketChat,
} from '../../../../tests/support/fake-servers/slack-compatible.ts'
import { createDestination, createNotice, SEND_NEEDS, toCompleteResult } from './notice.fixture.ts'
import { sendSlack } from './slack.ts'

const SERVERS: [string, () => ChatServer, string, string][] = [
  ['Mattermost', startFakeMattermost, MATTERMOST_PATH, 'The chat server answered 400: Invalid webhook.'],
  [
    'Rocket.Chat',
    startFakeRocketChat,
    ROCKET_CHAT_PATH,
    'The chat server answered 404: Invalid integration id or token provided.',
  ],
]

describe.each(SERVERS)('%s', (_, start, path, gone) => {
  let receiver: ChatServer
  beforeAll(() => {
    receiver = start()
  })
  afterAll(() => receiver.close())

  const send = (over = {}, hook = path) =>
    sendSlack(SEND_NEEDS, createDestination({ secrets: { url: receiver.origin + hook } }), createNotice(over))

  test('accepts a submission, the longest too, and a test', async () => {
    const long = new Map(Array.from({ length: 256 }, (_, i) => [`field ${i}`, '<&漢👩*`@'.repeat(9000)]))
    for (const over of [{}, { fields: long }, { event: 'test' as const, fields: new Map() }])
      expect(toCompleteResult(await send(over))).toMatchObject({ outcome: 'delivered', permanent: undefined })
    expect(receiver.accepted).toHaveLength(3)
    expect(receiver.accepted[0]?.text).toContain('message:\n  Hello,\n  please call me.')
  })

  test('shows the request without the address that works like a password', async () => {
    const { request } = await send()
    expect(request).toMatchObject({ method: 'POST', url: `${receiver.origin}/…${path.slice(-4)}` })
    expect(JSON.parse(request?.body ?? '')).toEqual(receiver.accepted.at(-1))
    expect(JSON.stringify(request)).not.toContain(path.slice(-12))
  })

  test('says when a hook is gone, and is tried again after any other refusal', async () => {
    expect(await send({}, `${path.slice(0, -4)}gone`)).toMatchObject({
      permanent: { what: 'channel', reason: gone },
    })
    for (const status of [400, 404, 403, 500]) {
      receiver.answerWith(() => new Response('<html>a proxy</html>', { status }))
      expect(toCompleteResult(await send())).toMatchObject({ httpStatus: status, permanent: undefined })
    }
  })
})
