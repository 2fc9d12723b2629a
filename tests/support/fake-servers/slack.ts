// A stand-in for Slack's incoming webhooks, with Slack's limits and error texts
// (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).

import { type ChatMessage, startChatServer } from './chat-server.ts'

export const SLACK_PATH = '/services/T0A1B2C3D/B0E1F2G3H/cAnArYsLaCkToKeN123456Zz'

/** @returns the error that Slack would answer, or undefined for a valid message */
export function validateSlackMessage(message: ChatMessage): string | undefined {
  const isBadText = (text: ChatMessage, max: number) =>
    !['plain_text', 'mrkdwn'].includes(text?.type) ||
    typeof text.text !== 'string' ||
    text.text.trim() === '' ||
    text.text.length > max ||
    (text.type === 'mrkdwn' && 'emoji' in text)
  const isBadList = (list: ChatMessage, max: number) =>
    !Array.isArray(list) || list.length < 1 || list.length > max
  const isBadBlock: Record<string, (block: ChatMessage) => boolean> = {
    header: ({ text }) => text?.type !== 'plain_text' || isBadText(text, 150),
    section: ({ text, fields }) =>
      (text === undefined && fields === undefined) ||
      (text !== undefined && isBadText(text, 3000)) ||
      (fields !== undefined &&
        (isBadList(fields, 10) || fields.some((field: ChatMessage) => isBadText(field, 2000)))),
    context: ({ elements }) =>
      isBadList(elements, 10) || elements.some((element: ChatMessage) => isBadText(element, 3000)),
    divider: () => false,
  }
  if (typeof message?.text !== 'string' || message.text === '') return 'no_text'
  if (message.text.length > 40_000 || isBadList(message.blocks, 50)) return 'invalid_blocks'
  if (message.blocks.some((block: ChatMessage) => isBadBlock[block.type]?.(block) ?? true))
    return 'invalid_blocks'
  // https://github.com/slackapi/bolt-js/issues/2509
  return Buffer.byteLength(JSON.stringify(message.blocks)) > 13_200 ? 'msg_blocks_too_long' : undefined
}

export const startFakeSlack = () =>
  startChatServer(({ path }, message, accept) => {
    if (!path.startsWith('/services/')) return new Response('no_service', { status: 404 })
    if (path !== SLACK_PATH) return new Response('invalid_token', { status: 403 })
    const error = validateSlackMessage(message)
    if (error) return new Response(error, { status: 400 })
    accept()
    return new Response('ok')
  })
