// Sends through Telegram's Bot API (https://core.telegram.org/bots/api#sendmessage).

import type { ChannelSender, Notice } from './contract.ts'
import {
  postJson,
  type ResponseVerdict,
  type ServiceResponse,
  toIncompleteResult,
  toStringOrEmpty,
} from './post-json.ts'
import {
  DOWNLOAD_LABEL,
  escapeEntities,
  fitLayout,
  fitNotice,
  formatAttribution,
  formatHeadline,
  formatMostOmitted,
  listNoticeFiles,
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
  const api = needs.telegramApi ?? API
  const message = {
    url: `${api}/bot${token}/sendMessage`,
    shownUrl: `${api}/bot…/sendMessage`,
    body,
    secrets,
  }
  return postJson(needs, notice, message, readTelegram)
}

// In UTF-16 units, counted after Telegram has parsed tags and entities.
const TEXT_MAX = 4096
// Telegram ignores all formats after the hundredth. A field has two, and its format keeps the value from becoming a link.
const ROOM = { fields: 40, name: 256, value: 3000, each: 3 }

// https://core.telegram.org/bots/api#html-style
const escaped = (text: string) => escapeEntities(text, /[&<>"]/g)

/** Telegram turns plain text into mentions, commands and links, but not code. A touch on code copies it. */
const code = (text: string) => `<code>${escaped(text)}</code>`
const toAnchor = (url: string, label: string) => `<a href="${escaped(url)}">${label}</a>`
const bold = (text: string) => `<b>${escaped(text)}</b>`

/** Telegram finds links in bold text too: an invisible joiner after each character that starts or joins a link. */
const breakLinks = (text: string) => text.replace(/[@#$/.:?&=]/g, '$&\u2060')
const brokenLinksLength = (text: string) => breakLinks(text).length

export function telegramText(notice: Notice): string {
  const title = breakLinks(truncateText(formatHeadline(notice), 300, '…', brokenLinksLength))
  const attribution = formatAttribution(notice, 400)
  const most = formatMostOmitted(notice)
  const files = listNoticeFiles(notice)
  const names = files.listed.map(({ name }) => `${name} ${DOWNLOAD_LABEL}`)
  const fixed = [title, most, attribution, OPEN_LABEL, ...names, files.more].reduce(
    (sum, part) => sum + part.length + 2,
    0,
  )
  return [
    bold(title),
    formatBody(notice, TEXT_MAX - fixed),
    files.listed.map(({ name, url }) => `${code(name)} ${toAnchor(url, DOWNLOAD_LABEL)}`).join('\n'),
    files.more,
    attribution === '' ? '' : code(attribution),
    toAnchor(notice.url, OPEN_LABEL),
  ]
    .filter(Boolean)
    .join('\n\n')
}

function formatBody(notice: Notice, total: number): string {
  if (notice.layout) return code(fitLayout(notice.layout, total))
  const { shown, omitted } = fitNotice(notice, { ...ROOM, total, cost: brokenLinksLength })
  const fields = shown.map(([name, value]) => `${bold(breakLinks(name))}\n${code(value)}`)
  return [...fields, omitted].filter(Boolean).join('\n')
}

// Telegram answers 400 for a wrong message, and also for a chat that is gone or closed to this bot.
const NO_CHAT =
  /chat not found|chat_id is empty|user not found|PEER_ID_INVALID|upgraded to a supergroup|not enough rights|have no rights|need administrator rights|CHAT_WRITE_FORBIDDEN|CHAT_RESTRICTED|chat was deleted|group is deactivated|message thread not found|TOPIC_/i

function readTelegram({ status, json }: ServiceResponse): ResponseVerdict {
  const description = toStringOrEmpty(json.description)
  const reason = `Telegram answered ${status}: ${description}`
  if (json.ok === true) {
    // The whole answer would repeat the message.
    const { message_id: id } = (json.result ?? {}) as { message_id?: unknown }
    return { answer: `Message ${typeof id === 'number' ? id : ''}` }
  }
  if (json.ok !== false) return {}
  if (status === 429) {
    const { retry_after: seconds } = (json.parameters ?? {}) as { retry_after?: unknown }
    return { retryAfterMs: toRetryDelayMs(seconds) }
  }
  // Telegram answers 401 to an unknown token, and 404 to a malformed one.
  if (status === 401 || status === 403 || status === 404) return { permanent: { what: 'channel', reason } }
  if (status !== 400) return {}
  return { permanent: { what: NO_CHAT.test(description) ? 'channel' : 'message', reason } }
}
