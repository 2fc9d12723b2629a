// Sends through Slack's incoming webhooks
// (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks), and through those of chat servers that
// take them too.

import { isSlackCompatible, maskUrl } from './channel-settings.ts'
import type { ChannelSender, Notice } from './contract.ts'
import { postJson, type ResponseVerdict, type ServiceResponse, toIncompleteResult } from './post-json.ts'
import {
  DOWNLOAD_LABEL,
  escapeEntities,
  fitLayout,
  fitNotice,
  formatAttribution,
  formatHeadline,
  jsonLength,
  listNoticeFiles,
  OPEN_LABEL,
  truncateText,
  utf8Length,
} from './safe-text.ts'
import { listUrlSecrets } from './service-response.ts'
import { readSlackCompatible, slackCompatibleMessage } from './slack-compatible.ts'

export const sendSlack: ChannelSender = async (needs, to, notice) => {
  const { url } = to.secrets
  if (!url) return toIncompleteResult('URL')
  const target = { url, shownUrl: maskUrl('slack', url), secrets: listUrlSecrets(url) }
  const isCompatible = isSlackCompatible(new URL(url))
  const body = JSON.stringify(isCompatible ? slackCompatibleMessage(notice) : slackMessage(notice))
  return postJson(needs, notice, { ...target, body }, isCompatible ? readSlackCompatible : readSlack)
}

// Slack allows 50 blocks, 150 characters in a header, and 10 texts of 2,000 characters in a section's columns. Slack
// documents no total, and refuses blocks of about 13,200 characters in all
// (https://github.com/slackapi/bolt-js/issues/2509): the bytes of the JSON stay below that.
const HEADER_MAX = 150
const SECTION_MAX = 2900
const ROOM = { fields: 39, name: 256, value: 2000, total: 8_500, each: 105, cost: jsonCost }

/** The length of the character in JSON, in UTF-8 bytes. */
function jsonCost(character: string): number {
  return Math.max(jsonLength(character), utf8Length(character))
}

/** Untrusted text goes into `plain_text`: Slack reads mentions, links and formatting in `mrkdwn` only. */
const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

export function slackMessage(notice: Notice) {
  const title = truncateText(formatHeadline(notice), HEADER_MAX)
  const blocks: object[] = [{ type: 'header', text: plain(title) }, ...toBodyBlocks(notice)]
  const attribution = formatAttribution(notice, 400, jsonCost)
  if (attribution !== '') blocks.push({ type: 'context', elements: [plain(attribution)] })
  blocks.push(...toFileBlocks(notice))
  // A link and not a button: Slack reports a pressed button to an app, and there is none.
  const link = { type: 'mrkdwn', text: `<${escaped(notice.url)}|${OPEN_LABEL}>` }
  blocks.push({ type: 'context', elements: [link] })
  // Slack reads `text` as mrkdwn. A phone shows `text` on its lock screen.
  return { text: escaped(title), blocks, unfurl_links: false, unfurl_media: false }
}

function toBodyBlocks(notice: Notice): object[] {
  if (notice.layout) {
    const text = fitLayout(notice.layout, ROOM.total, jsonCost)
    return cutIntoPieces(text, SECTION_MAX).map((piece) => ({ type: 'section', text: plain(piece) }))
  }
  const { shown, omitted } = fitNotice(notice, ROOM)
  // Two columns: name and value. A phone shows one below the other.
  const sections = shown.map((field) => ({ type: 'section', fields: field.map(plain) }))
  return omitted ? [...sections, { type: 'context', elements: [plain(omitted)] }] : sections
}

/** The name is plain text. Only our own link is `mrkdwn`. */
function toFileBlocks(notice: Notice): object[] {
  const { listed, more } = listNoticeFiles(notice)
  const blocks = listed.map(({ name, url }) => ({
    type: 'context',
    elements: [{ type: 'mrkdwn', text: `<${escaped(url)}|${DOWNLOAD_LABEL}>` }, plain(name)],
  }))
  return more === '' ? blocks : [...blocks, { type: 'context', elements: [plain(more)] }]
}

/** Cuts at the end of a line where there is one. */
function cutIntoPieces(text: string, max: number): string[] {
  const pieces: string[] = []
  let rest = text
  while (rest.length > max) {
    const line = rest.lastIndexOf('\n', max)
    // Never through a surrogate pair.
    const at = line > 0 ? line : max - Number(/[\ud800-\udbff]/.test(rest[max - 1] ?? ''))
    pieces.push(rest.slice(0, at))
    rest = rest.slice(at).replace(/^\n/, '')
  }
  return [...pieces, rest].filter((piece) => piece.trim() !== '')
}

// https://docs.slack.dev/messaging/formatting-message-text/#escaping
const escaped = (text: string) => escapeEntities(text, /[&<>]/g)

// Slack's words for a hook, a channel or a team that will not come back. Any other 400 is about this message.
const GONE =
  /^(no_service(_id)?|no_active_hooks|no_team|team_disabled|invalid_token|token_revoked|account_inactive|channel_not_found|channel_is_archived|is_archived|user_not_found|action_prohibited|posting_to_general_channel_denied|org_login_required|access_denied)$/

function readSlack({ status, text }: ServiceResponse): ResponseVerdict {
  const word = text.trim()
  const reason = `Slack answered ${status}: ${word}`
  if (GONE.test(word) || status === 410) return { permanent: { what: 'channel', reason } }
  // Only in Slack's own words: a proxy may answer 403 or 404 for a while.
  if ((status === 403 || status === 404) && /^[a-z_]+$/.test(word))
    return { permanent: { what: 'channel', reason } }
  if (status === 400 || status === 413) return { permanent: { what: 'message', reason } }
  return {}
}
