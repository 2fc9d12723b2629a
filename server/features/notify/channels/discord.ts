// Sends through Discord's webhooks (https://discord.com/developers/docs/resources/webhook#execute-webhook).

import { toIso } from '../../../lib/iso-time.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { maskUrl } from './channel-settings.ts'
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
  fitLayout,
  fitNotice,
  formatAttribution,
  formatHeadline,
  formatMostOmitted,
  listNoticeFiles,
  OPEN_LABEL,
  truncateText,
} from './safe-text.ts'
import { listUrlSecrets, toRetryDelayMs } from './service-response.ts'

export const sendDiscord: ChannelSender = async (needs, to, notice) => {
  const url = parseUrl(to.secrets.url ?? '')
  if (!url) return toIncompleteResult('URL')
  const secrets = listUrlSecrets(url.href)
  const shownUrl = maskUrl('discord', url.href)
  // Without `wait`, Discord answers before it has checked the message.
  url.searchParams.set('wait', 'true')
  const body = JSON.stringify(discordMessage(notice))
  return postJson(needs, notice, { url: url.href, shownUrl, body, secrets }, readDiscord)
}

// https://discord.com/developers/docs/resources/message#embed-object-embed-limits. This file counts UTF-16 units, which
// are never fewer than the characters that Discord counts.
const TITLE_MAX = 256
const FOOTER_MAX = 500
const DESCRIPTION_MAX = 4096
const SUM_MAX = 6000
const ROOM = { fields: 18, name: 256, value: 1024, each: 0, cost: escapedLength }

// After a backslash, Discord shows each of these characters as it is: no mention, link, format, heading, list or emoji.
const escaped = (text: string) => text.replace(/[!-/:-@[-`{-~]/g, '\\$&')

function escapedLength(character: string): number {
  return /[!-/:-@[-`{-~]/.test(character) ? 2 : character.length
}

export function discordMessage(notice: Notice) {
  const title = escaped(truncateText(formatHeadline(notice), TITLE_MAX, '…', ROOM.cost))
  // Discord shows footers as plain text.
  const footer = formatAttribution(notice, FOOTER_MAX)
  const link = `[${OPEN_LABEL}](${notice.url})`
  const reserved = title.length + footer.length + formatMostOmitted(notice).length + link.length
  const files = toFileFields(notice)
  const { layout } = notice
  const total =
    SUM_MAX - reserved - files.reduce((sum, { name, value }) => sum + name.length + value.length, 0)
  const { shown, omitted } = layout ? { shown: [], omitted: '' } : fitNotice(notice, { ...ROOM, total })
  const fields = [
    ...shown.map(([name, value]) => ({ name: escaped(name), value: escaped(value), inline: false })),
    ...files,
  ]
  return {
    embeds: [
      {
        title,
        url: notice.url,
        ...(layout && {
          description: escaped(fitLayout(layout, Math.min(total, DESCRIPTION_MAX), ROOM.cost)),
        }),
        // The last field is always the link to Towpath.
        fields: [...fields, { name: omitted || '\u200b', value: link, inline: false }],
        ...(footer !== '' && { footer: { text: footer } }),
        timestamp: toIso(notice.createdAt),
      },
    ],
    allowed_mentions: { parse: [] },
  }
}

function toFileFields(notice: Notice) {
  const { listed, more } = listNoticeFiles(notice)
  const fields = listed.map(({ name, url }) => ({
    name: escaped(name),
    value: `[${DOWNLOAD_LABEL}](${url})`,
  }))
  const all = more === '' ? fields : [...fields, { name: escaped(more), value: '\u200b' }]
  return all.map((field) => ({ ...field, inline: false }))
}

// A forum requires the name or id of a thread (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json).
const FORUM = 220_001

function readDiscord({ status, json }: ServiceResponse): ResponseVerdict {
  if (status >= 200 && status < 300) return { answer: `Message ${toStringOrEmpty(json.id)}` }
  const { code } = json
  const reason = `Discord answered ${status}: ${toStringOrEmpty(json.message)}`
  // `retry_after` is in seconds, and more exact than the header.
  if (status === 429) return { retryAfterMs: toRetryDelayMs(json.retry_after) }
  // Only Discord itself sends a code. Its proxy answers 403 too, to addresses that send too much.
  if (typeof code !== 'number') return {}
  if (status === 401 || status === 403 || status === 404 || code === FORUM)
    return { permanent: { what: 'channel', reason } }
  return status === 400 || status === 413 ? { permanent: { what: 'message', reason } } : {}
}
