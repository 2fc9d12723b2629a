// Telegram's Bot API (https://core.telegram.org/bots/api#sendmessage).

import type { ChannelSender, Notice } from './contract.ts'
import {
  postJson,
  type ResponseVerdict,
  type ServiceResponse,
  toIncompleteResult,
  toStringOrEmpty,
} from './post-json.ts'
import {
  fitFields,
  formatAttribution,
  formatHeadline,
  formatOmittedFields,
  OPEN_LABEL,
  truncateText,
} from './safe-text.ts'
import { toRetryDelayMs } from './service-response.ts'

const API = 'https://api.telegram.org'

export const sendTelegram: ChannelSender = async (needs, to, notice) => {
  const { botToken } = to.secrets
  if (!botToken) return toIncompleteResult('bot token')
  if (!to.chatId) return toIncompleteResult('chat id')
  const token = encodeURIComponent(botToken).replaceAll('%3A', ':')
  const body = JSON.stringify({
    chat_id: to.chatId,
    text: telegramText(notice),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  })
  const secrets = [botToken, token, botToken.replace(/^\d+:/, '')]
  const url = `${needs.telegramApi ?? API}/bot${token}/sendMessage`
  return postJson(needs, notice, { url, body, secrets }, readTelegram)
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
const breakLinks = (text: string) => text.replace(/[@#$/.:?&=]/g, '$&\u2060')
const brokenLinksLength = (text: string) => breakLinks(text).length

export function telegramText(notice: Notice): string {
  const title = breakLinks(truncateText(formatHeadline(notice), 300, '…', brokenLinksLength))
  const attribution = formatAttribution(notice, 400)
  const fixed = [title, formatOmittedFields(9999), attribution, OPEN_LABEL].reduce(
    (sum, part) => sum + part.length + 2,
    0,
  )
  const { shown, omitted } = fitFields(notice.fields, {
    ...ROOM,
    total: TEXT_MAX - fixed,
    cost: brokenLinksLength,
  })
  const fields = shown.map(([name, value]) => `${bold(breakLinks(name))}\n${code(value)}`)
  if (omitted > 0) fields.push(formatOmittedFields(omitted))
  return [
    bold(title),
    fields.join('\n'),
    attribution === '' ? '' : code(attribution),
    `<a href="${escaped(notice.url)}">${OPEN_LABEL}</a>`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

// 400 says both what is wrong with a message and that a chat is not there, or not for this bot.
const NO_CHAT =
  /chat not found|chat_id is empty|user not found|PEER_ID_INVALID|upgraded to a supergroup|not enough rights|have no rights|need administrator rights|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED|chat was deleted|group is deactivated|message thread not found|TOPIC_/i

function readTelegram({ status, json }: ServiceResponse): ResponseVerdict {
  const description = toStringOrEmpty(json.description)
  const reason = `Telegram answered ${status}: ${description}`
  // The answer to a success repeats the message.
  if (json.ok === true) {
    const { message_id: id } = (json.result ?? {}) as { message_id?: unknown }
    return { answer: `Message ${typeof id === 'number' ? id : ''}` }
  }
  if (json.ok !== false) return {}
  if (status === 429) {
    const { retry_after: seconds } = (json.parameters ?? {}) as { retry_after?: unknown }
    return { retryAfterMs: toRetryDelayMs(seconds) }
  }
  // An unknown token is a 401, a malformed one a 404.
  if (status === 401 || status === 403 || status === 404) return { permanent: { what: 'channel', reason } }
  if (status !== 400) return {}
  return { permanent: { what: NO_CHAT.test(description) ? 'channel' : 'message', reason } }
}
