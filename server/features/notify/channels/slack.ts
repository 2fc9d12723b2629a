// Slack's incoming webhooks (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).

import type { ChannelSender, Notice } from './contract.ts'
import { postJson, type ResponseVerdict, type ServiceResponse, toIncompleteResult } from './post-json.ts'
import {
  fitFields,
  formatAttribution,
  formatHeadline,
  formatOmittedFields,
  jsonLength,
  OPEN_LABEL,
  truncateText,
  utf8Length,
} from './safe-text.ts'
import { listUrlSecrets } from './service-response.ts'

export const sendSlack: ChannelSender = async (needs, to, notice) => {
  const { url } = to.secrets
  if (!url) return toIncompleteResult('URL')
  const message = { url, body: JSON.stringify(slackMessage(notice)), secrets: listUrlSecrets(url) }
  return postJson(needs, notice, message, readSlack)
}

// 50 blocks, 150 in a header, 10 texts of 2,000 in a section's columns. Slack documents no sum, and refuses blocks of
// about 13,200 (https://github.com/slackapi/bolt-js/issues/2509): the sum stays below as JSON, in bytes.
const HEADER_MAX = 150
const ROOM = { fields: 45, name: 256, value: 2000, total: 10_500, each: 105, cost: jsonCost }

/** As JSON, in UTF-8. */
function jsonCost(character: string): number {
  return Math.max(jsonLength(character), utf8Length(character))
}

/** Only `plain_text` for what others wrote: Slack looks for mentions, links and formatting in `mrkdwn` alone. */
const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

export function slackMessage(notice: Notice) {
  const title = truncateText(formatHeadline(notice), HEADER_MAX)
  const { shown, omitted } = fitFields(notice.fields, ROOM)
  const blocks: object[] = [
    { type: 'header', text: plain(title) },
    // Two columns, name and value; one below the other on a phone.
    ...shown.map((field) => ({ type: 'section', fields: field.map(plain) })),
  ]
  if (omitted > 0) blocks.push({ type: 'context', elements: [plain(formatOmittedFields(omitted))] })
  const attribution = formatAttribution(notice, 400, jsonCost)
  if (attribution !== '') blocks.push({ type: 'context', elements: [plain(attribution)] })
  // A link and not a button: pressing one makes Slack look for an app to tell.
  const link = { type: 'mrkdwn', text: `<${escaped(notice.url)}|${OPEN_LABEL}>` }
  blocks.push({ type: 'context', elements: [link] })
  // What a phone shows on its locked screen; `text` is mrkdwn.
  return { text: escaped(title), blocks, unfurl_links: false, unfurl_media: false }
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string) => text.replace(/[&<>]/g, (character) => ESCAPES[character] ?? '')

// What Slack says of a hook, a channel or a team that will not come back; any other 400 is about this message.
const GONE =
  /^(no_service(_id)?|no_active_hooks|no_team|team_disabled|invalid_token|token_revoked|account_inactive|channel_not_found|channel_is_archived|is_archived|user_not_found|action_prohibited|posting_to_general_channel_denied|org_login_required|access_denied)$/

function readSlack({ status, text }: ServiceResponse): ResponseVerdict {
  const word = text.trim()
  const said = { reason: `Slack answered ${status}: ${word}` }
  if (GONE.test(word) || status === 410) return { permanent: { what: 'channel', ...said } }
  // In Slack's own words only: what stands between may answer 403 or 404 for a while.
  if ((status === 403 || status === 404) && /^[a-z_]+$/.test(word))
    return { permanent: { what: 'channel', ...said } }
  if (status === 400 || status === 413) return { permanent: { what: 'message', ...said } }
  return {}
}
