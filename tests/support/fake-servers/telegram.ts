// A stand-in for Telegram's sendMessage, with its HTML dialect, limits and error texts
// (https://core.telegram.org/bots/api#sendmessage).

import { type ChatMessage, startChatServer } from './chat-server.ts'

export const TELEGRAM_TOKEN = '123456789:AAcAnArYtElEgRaM-_0123456789abcdefg'
export const TELEGRAM_CHAT = '-1001234567890'

export interface TelegramText {
  text: string
  entities: { tag: string; href?: string; from: number; to: number }[]
  /** The mentions, commands, hashtags and addresses that Telegram turns into links without being told. */
  live: string[]
}

const TELEGRAM_TAGS = ['b', 'i', 'u', 's', 'code', 'pre', 'a']

/** @throws an Error with the text that Telegram would answer */
export function parseTelegramHtml(html: string): TelegramText {
  let text = ''
  const open: TelegramText['entities'] = []
  const entities: TelegramText['entities'] = []
  for (const [token] of html.matchAll(/<[^>]*>?|&[a-z#0-9]+;|[^<&]+|&/gi)) {
    const tag = /^<(\/?)([a-z]+)(?: href="([^"<>]*)")?>$/.exec(token)
    if (token.startsWith('<')) {
      if (!tag || !TELEGRAM_TAGS.includes(tag[2] ?? ''))
        throw new Error(`Unsupported start tag "${token}" at byte offset ${text.length}`)
      if (tag[1] === '') {
        open.push({ tag: tag[2] as string, href: tag[3], from: text.length, to: 0 })
      } else {
        const last = open.pop()
        if (!last || last.tag !== tag[2]) throw new Error(`Unmatched end tag at byte offset ${text.length}`)
        if (last.from < text.length) entities.push({ ...last, to: text.length })
      }
    } else if (/^&.+;$/.test(token)) {
      const named: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"' }
      const number = /^&#(\d+);$/.exec(token)?.[1]
      text += named[token] ?? (number ? String.fromCodePoint(Number(number)) : token)
    } else text += token
  }
  if (open.length > 0) throw new Error(`Can't find end tag corresponding to start tag "${open[0]?.tag}"`)
  // "A message may have up to 100 entities, further ones are ignored."
  const kept = entities.sort((a, b) => a.from - b.from).slice(0, 100)
  const linkable = text.matchAll(
    /[@#$/][\p{L}\p{N}_]+|\b[a-z]+:\/\/\S+|[\p{L}\p{N}._-]+@[\p{L}\p{N}-]+\.\p{L}+|[\p{L}\p{N}-]+\.\p{L}{2,}/giu,
  )
  const withoutLinks = kept.filter(({ tag }) => tag === 'code' || tag === 'pre' || tag === 'a')
  const live = [...linkable]
    .filter(({ index }) => !withoutLinks.some(({ from, to }) => from <= index && index < to))
    .map(([match]) => match)
  return { text, entities: kept, live }
}

/** @returns the description that Telegram would answer, or undefined for a valid message */
export function validateTelegramMessage({ text, parse_mode }: ChatMessage): string | undefined {
  if (parse_mode !== 'HTML') return 'Bad Request: unsupported parse_mode'
  try {
    const parsed = parseTelegramHtml(text).text
    if (parsed.trim() === '') return 'Bad Request: message text is empty'
    return parsed.length > 4096 ? 'Bad Request: message is too long' : undefined
  } catch (error) {
    return `Bad Request: can't parse entities: ${(error as Error).message}`
  }
}

export const startFakeTelegram = () =>
  startChatServer(({ path }, message, accept) => {
    const refuse = (error_code: number, description: string) =>
      Response.json({ ok: false, error_code, description }, { status: error_code })
    const token = /^\/bot(\d+:[\w-]+)\/sendMessage$/.exec(path)?.[1]
    if (!token) return refuse(404, 'Not Found')
    if (token !== TELEGRAM_TOKEN) return refuse(401, 'Unauthorized')
    if (message.chat_id !== TELEGRAM_CHAT) return refuse(400, 'Bad Request: chat not found')
    const error = validateTelegramMessage(message)
    if (error) return refuse(400, error)
    accept()
    return Response.json({ ok: true, result: { message_id: 42, text: parseTelegramHtml(message.text).text } })
  })
