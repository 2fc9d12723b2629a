// Chat services as they document themselves: their limits, their addresses, their words for what is wrong. And a
// receiver of webhooks, and one that answers whatever a test wants.

// biome-ignore lint/suspicious/noExplicitAny: bodies as they came; tests look into them
type Body = any

export interface ChatRequest {
  path: string
  headers: Headers
  text: string
}

export interface ChatServer {
  origin: string
  /** All requests so far. */
  requests: ChatRequest[]
  /** The bodies that the service took. */
  accepted: Body[]
  /** The next answers, in place of the documented ones. */
  answerWith(...answers: ((asked: ChatRequest) => Response | Promise<Response>)[]): void
  close(): Promise<void>
}

type ChatResponder = (asked: ChatRequest, body: Body, take: () => void) => Response

export function startChatServer(answer: ChatResponder): ChatServer {
  const asked: ChatRequest[] = []
  const taken: Body[] = []
  const instead: ((asked: ChatRequest) => Response | Promise<Response>)[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const one = { path: pathname + search, headers: request.headers, text: await request.text() }
      asked.push(one)
      const special = instead.shift()
      if (special) return special(one)
      if (request.method !== 'POST') return new Response('', { status: 405 })
      const body = JSON.parse(one.text)
      return answer(one, body, () => taken.push(body))
    },
  })
  return {
    origin: `http://127.0.0.1:${server.port}`,
    requests: asked,
    accepted: taken,
    answerWith(...answers) {
      instead.push(...answers)
    },
    close: () => server.stop(true),
  }
}

// --- Webhooks

export const startFakeWebhook = () =>
  startChatServer((_, _body, take) => {
    take()
    return new Response(null, { status: 204 })
  })

// --- Slack

export const SLACK_PATH = '/services/T0A1B2C3D/B0E1F2G3H/cAnArYsLaCkToKeN123456Zz'

/** @returns what Slack would say, or undefined when it takes the message */
export function validateSlackMessage(body: Body): string | undefined {
  const textFault = (text: Body, max: number) =>
    !['plain_text', 'mrkdwn'].includes(text?.type) ||
    typeof text.text !== 'string' ||
    text.text.trim() === '' ||
    text.text.length > max ||
    (text.type === 'mrkdwn' && 'emoji' in text)
  const listFault = (list: Body, max: number) => !Array.isArray(list) || list.length < 1 || list.length > max
  const rules: Record<string, (block: Body) => boolean> = {
    header: ({ text }) => text?.type !== 'plain_text' || textFault(text, 150),
    section: ({ text, fields }) =>
      (text === undefined && fields === undefined) ||
      (text !== undefined && textFault(text, 3000)) ||
      (fields !== undefined &&
        (listFault(fields, 10) || fields.some((field: Body) => textFault(field, 2000)))),
    context: ({ elements }) => listFault(elements, 10) || elements.some((one: Body) => textFault(one, 3000)),
    divider: () => false,
  }
  if (typeof body?.text !== 'string' || body.text === '') return 'no_text'
  if (body.text.length > 40_000 || listFault(body.blocks, 50)) return 'invalid_blocks'
  if (body.blocks.some((block: Body) => rules[block.type]?.(block) ?? true)) return 'invalid_blocks'
  // https://github.com/slackapi/bolt-js/issues/2509
  return Buffer.byteLength(JSON.stringify(body.blocks)) > 13_200 ? 'msg_blocks_too_long' : undefined
}

export const startFakeSlack = () =>
  startChatServer(({ path }, body, take) => {
    if (!path.startsWith('/services/')) return new Response('no_service', { status: 404 })
    if (path !== SLACK_PATH) return new Response('invalid_token', { status: 403 })
    const fault = validateSlackMessage(body)
    if (fault) return new Response(fault, { status: 400 })
    take()
    return new Response('ok')
  })

// --- Discord

export const DISCORD_PATH = `/api/webhooks/1234567890123456789/${'cAnArYdIsCoRd_-'.repeat(4)}12345678`

export function validateDiscordMessage(body: Body): string | undefined {
  const { content = '', embeds = [] } = body
  const tooLong = (text: unknown, max: number) => typeof text === 'string' && text.length > max
  const empty = (text: unknown) => typeof text !== 'string' || text.trim() === ''
  if (content === '' && embeds.length === 0) return 'Cannot send an empty message'
  if (tooLong(content, 2000) || embeds.length > 10) return 'Invalid Form Body'
  let sum = 0
  for (const { title = '', description = '', fields = [], footer } of embeds) {
    if (tooLong(title, 256) || tooLong(description, 4096) || fields.length > 25) return 'Invalid Form Body'
    if (footer && (empty(footer.text) || tooLong(footer.text, 2048))) return 'Invalid Form Body'
    sum += title.length + description.length + (footer?.text.length ?? 0)
    for (const { name, value } of fields) {
      if (empty(name) || empty(value) || tooLong(name, 256) || tooLong(value, 1024))
        return 'Invalid Form Body'
      sum += name.length + value.length
    }
  }
  return sum > 6000 ? 'Invalid Form Body' : undefined
}

export const startFakeDiscord = () =>
  startChatServer(({ path }, body, take) => {
    const url = new URL(path, 'http://discord')
    const no = (status: number, code: number, message: string) => Response.json({ message, code }, { status })
    if (!url.pathname.startsWith(DISCORD_PATH.slice(0, 33))) return no(404, 10_015, 'Unknown Webhook')
    if (url.pathname !== DISCORD_PATH) return no(401, 50_027, 'Invalid Webhook Token')
    const fault = validateDiscordMessage(body)
    if (fault) return no(400, 50_035, fault)
    take()
    if (url.searchParams.get('wait') !== 'true') return new Response(null, { status: 204 })
    return Response.json({ id: '987654321', channel_id: '1', content: '', embeds: body.embeds })
  })

// --- Telegram

export const TELEGRAM_TOKEN = '123456789:AAcAnArYtElEgRaM-_0123456789abcdefg'
export const TELEGRAM_CHAT = '-1001234567890'

export interface TelegramText {
  text: string
  entities: { tag: string; href?: string; from: number; to: number }[]
  /** Mentions, commands, tags and addresses that Telegram makes links of by itself. */
  live: string[]
}

const TELEGRAM_TAGS = ['b', 'i', 'u', 's', 'code', 'pre', 'a']

/** @throws with Telegram's words */
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
  const counted = entities.sort((a, b) => a.from - b.from).slice(0, 100)
  const found = text.matchAll(
    /[@#$/][\p{L}\p{N}_]+|\b[a-z]+:\/\/\S+|[\p{L}\p{N}._-]+@[\p{L}\p{N}-]+\.\p{L}+|[\p{L}\p{N}-]+\.\p{L}{2,}/giu,
  )
  const quiet = counted.filter(({ tag }) => tag === 'code' || tag === 'pre' || tag === 'a')
  const live = [...found]
    .filter(({ index }) => !quiet.some(({ from, to }) => from <= index && index < to))
    .map(([one]) => one)
  return { text, entities: counted, live }
}

/** @returns the description of the refusal */
export function validateTelegramMessage({ text, parse_mode }: Body): string | undefined {
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
  startChatServer(({ path }, body, take) => {
    const no = (error_code: number, description: string) =>
      Response.json({ ok: false, error_code, description }, { status: error_code })
    const token = /^\/bot(\d+:[\w-]+)\/sendMessage$/.exec(path)?.[1]
    if (!token) return no(404, 'Not Found')
    if (token !== TELEGRAM_TOKEN) return no(401, 'Unauthorized')
    if (body.chat_id !== TELEGRAM_CHAT) return no(400, 'Bad Request: chat not found')
    const fault = validateTelegramMessage(body)
    if (fault) return no(400, fault)
    take()
    return Response.json({ ok: true, result: { message_id: 42, text: parseTelegramHtml(body.text).text } })
  })

// --- Microsoft Teams

export const TEAMS_PATH =
  '/workflows/0123456789abcdef0123456789abcdef/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=cAnArYtEaMs-0123456789_abcdefghijklmnopqrst'

export function validateTeamsMessage(text: string): string | undefined {
  // "28 KB", whichever way it is counted.
  if (Math.max(Buffer.byteLength(text), Buffer.byteLength(text, 'utf16le')) > 28_672)
    return 'RequestEntityTooLarge'
  const body = JSON.parse(text)
  const [attachment, ...more] = body.attachments ?? []
  if (body.type !== 'message' || more.length > 0) return 'InvalidBody'
  if (attachment?.contentType !== 'application/vnd.microsoft.card.adaptive') return 'InvalidBody'
  const card = attachment.content
  if (card?.type !== 'AdaptiveCard' || !/^1\.[0-4]$/.test(card.version) || !Array.isArray(card.body))
    return 'InvalidBody'
  const filled = (one: Body) => typeof one?.text === 'string' && one.text !== ''
  const rules: Record<string, (one: Body) => boolean> = {
    TextBlock: filled,
    RichTextBlock: ({ inlines }) =>
      inlines?.length > 0 && inlines.every((one: Body) => one.type === 'TextRun' && filled(one)),
  }
  if (!card.body.every((one: Body) => rules[one.type]?.(one))) return 'InvalidBody'
  const actions = card.actions ?? []
  return actions.every((one: Body) => one.type === 'Action.OpenUrl' && /^https:\/\//.test(one.url))
    ? undefined
    : 'InvalidBody'
}

export const startFakeTeams = () =>
  startChatServer(({ path, text }, _, take) => {
    const no = (status: number, code: string) =>
      Response.json({ error: { code, message: 'The request failed.' } }, { status })
    if (!path.startsWith(TEAMS_PATH.slice(0, 40))) return no(404, 'WorkflowNotFound')
    if (path !== TEAMS_PATH) return no(401, 'DirectApiAuthorizationRequired')
    const fault = validateTeamsMessage(text)
    if (fault) return no(fault === 'InvalidBody' ? 400 : 413, fault)
    take()
    return new Response(null, { status: 202 })
  })
