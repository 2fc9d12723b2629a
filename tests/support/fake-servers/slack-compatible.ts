// Stand-ins for the incoming webhooks of Mattermost and Rocket.Chat, with their limits, their reading of a text, and
// their refusals.

import { type ChatMessage, startChatServer } from './chat-server.ts'

export const MATTERMOST_PATH = '/hooks/cAnArYmAtTeRmOsT1234567890'
export const ROCKET_CHAT_PATH = '/hooks/64f1c0a1b2c3d4e5f6a7b8c9/cAnArYrOcKeT1234567890abcdefghijklmnopq'

/** The text in the only block of code, and the text around it. */
export function parseFence(text: string): { outside: string; code: string } {
  const parts = text.split('```')
  if (parts.length !== 3) return { outside: text, code: '' }
  const [before = '', code = '', after = ''] = parts
  return { outside: before.trimEnd() + after, code }
}

/**
 * Markup that one of the programs finds in a text although it is code: the mentions that Mattermost makes of Slack's
 * (https://github.com/mattermost/mattermost/blob/master/server/channels/app/slack.go), and mentions after a space or at
 * the start of a line.
 */
export const findActing = (code: string): string[] =>
  code.match(/<!(channel|here|all)>|<@[a-zA-Z0-9]+>|(?<![\p{L}\p{N}_.+-])@[\p{L}\p{N}]+/gu) ?? []

/** @returns why the program would not show the message as one message with one block of code */
export function validateSlackCompatibleMessage(message: ChatMessage): string | undefined {
  if (typeof message?.text !== 'string' || message.text === '') return 'no text'
  if (message.text.length > 4000) return `${message.text.length} characters`
  return parseFence(message.text).code === '' ? 'not one block of code' : undefined
}

export const startFakeMattermost = () =>
  startChatServer(({ path }, message, accept) => {
    const refuse = (id: string, text: string) =>
      Response.json({ id, message: text, status_code: 400 }, { status: 400 })
    if (path !== MATTERMOST_PATH) return refuse('web.incoming_webhook.invalid.app_error', 'Invalid webhook.')
    if (validateSlackCompatibleMessage(message))
      return refuse('web.incoming_webhook.text.app_error', 'No text.')
    accept()
    return new Response('ok')
  })

export const startFakeRocketChat = () =>
  startChatServer(({ path }, message, accept) => {
    const refuse = (status: number, error: string) => Response.json({ success: false, error }, { status })
    if (path !== ROCKET_CHAT_PATH) return refuse(404, 'Invalid integration id or token provided.')
    if (validateSlackCompatibleMessage(message)) return refuse(400, 'error-message-size-exceeded')
    accept()
    return Response.json({ success: true })
  })
