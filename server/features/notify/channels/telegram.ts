// Telegram's Bot API (https://core.telegram.org/bots/api#sendmessage).

import type { Notice, Send } from '../notice.ts'
import { waitOf } from './answer.ts'
import { closing, cutText, fitFields, headline, moreFields, OPEN } from './cut.ts'
import { incomplete, post, type Reading, type Reply, textOf } from './post.ts'

const API = 'https://api.telegram.org'

export const sendTelegram: Send = async (needs, to, notice) => {
  const { botToken } = to.secrets
  if (!botToken) return incomplete('bot token')
  if (!to.chatId) return incomplete('chat id')
  const token = encodeURIComponent(botToken).replaceAll('%3A', ':')
  const body = JSON.stringify({
    chat_id: to.chatId,
    text: telegramText(notice),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  })
  const secrets = [botToken, token, botToken.replace(/^\d+:/, '')]
  const url = `${needs.telegramApi ?? API}/bot${token}/sendMessage`
  return post(needs, notice, { url, body, secrets }, readTelegram)
}

// Of the text that is left when tags and entities are read, in UTF-16 units.
const TEXT_MAX = 4096
// Formatting beyond the hundredth is ignored, and with it what keeps values from being read: two for each field.
const ROOM = { fields: 40, name: 256, value: 3000, each: 3 }

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? '')

/** Telegram makes mentions, commands and links of plain text, but not of code, which moreover is copied by a touch. */
const code = (text: string) => `<code>${escaped(text)}</code>`
const bold = (text: string) => `<b>${escaped(text)}</b>`

/** Bold text is looked through as well: an invisible joiner after what links begin with, or have inside. */
const unlinked = (text: string) => text.replace(/[@#$/.:?&=]/g, '$&\u2060')
const unlinkedLength = (text: string) => unlinked(text).length

export function telegramText(notice: Notice): string {
  const title = unlinked(cutText(headline(notice), 300, '…', unlinkedLength))
  const attribution = closing(notice, 400)
  const fixed = [title, moreFields(9999), attribution, OPEN].reduce((sum, part) => sum + part.length + 2, 0)
  const { shown, more } = fitFields(notice.fields, {
    ...ROOM,
    total: TEXT_MAX - fixed,
    cost: unlinkedLength,
  })
  const fields = shown.map(([name, value]) => `${bold(unlinked(name))}\n${code(value)}`)
  if (more > 0) fields.push(moreFields(more))
  return [
    bold(title),
    fields.join('\n'),
    attribution === '' ? '' : code(attribution),
    `<a href="${escaped(notice.url)}">${OPEN}</a>`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

// 400 says both what is wrong with a message and that a chat is not there, or not for this bot.
const NO_CHAT =
  /chat not found|chat_id is empty|user not found|PEER_ID_INVALID|upgraded to a supergroup|not enough rights|have no rights|need administrator rights|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED|chat was deleted|group is deactivated|message thread not found|TOPIC_/i

function readTelegram({ status, json }: Reply): Reading {
  const description = textOf(json.description)
  const reason = `Telegram answered ${status}: ${description}`
  // The answer to a success repeats the message.
  if (json.ok === true) {
    const { message_id: id } = (json.result ?? {}) as { message_id?: unknown }
    return { answer: `Message ${typeof id === 'number' ? id : ''}` }
  }
  if (json.ok !== false) return {}
  if (status === 429) {
    const { retry_after: seconds } = (json.parameters ?? {}) as { retry_after?: unknown }
    return { retryAfterMs: waitOf(seconds) }
  }
  // An unknown token is a 401, a malformed one a 404.
  if (status === 401 || status === 403 || status === 404) return { permanent: { what: 'channel', reason } }
  if (status !== 400) return {}
  return { permanent: { what: NO_CHAT.test(description) ? 'channel' : 'message', reason } }
}
