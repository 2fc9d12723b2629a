// The message for chat servers that take Slack's incoming webhooks and ignore its blocks: Mattermost
// (https://developers.mattermost.com/integrate/webhooks/incoming/) and Rocket.Chat
// (https://docs.rocket.chat/docs/integrations). Both read Markdown and mentions in `text`.

import type { Notice } from './contract.ts'
import { type ResponseVerdict, type ServiceResponse, toStringOrEmpty } from './post-json.ts'
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

// Rocket.Chat takes 5,000 characters, and older versions of Mattermost cut a message after 4,000.
const TEXT_MAX = 4000
const ROOM = { fields: 256, name: 256, value: 3000, each: 6, cost: blockCost }
const JOINER = '\u2060'

/**
 * Untrusted text stands in one block of code. Neither program reads Markdown, links, emoji or mentions there. Two things
 * would still act: three backticks, which end the block, and mentions, for a program that searches the whole text.
 */
const inert = (text: string) =>
  text
    .replace(/`(?=`)/g, `\`${JOINER}`)
    // Not in `ada@example.com`, which is no mention, and which people copy.
    .replace(/(^|[^\p{L}\p{N}_.+-])@/gu, `$1@${JOINER}`)
    // Mattermost turns `<!here>` and `<@id>` into mentions before it reads the code.
    .replace(/<(?=[!@#])/g, `<${JOINER}`)

/** The length of the character after `inert`, and of the indentation after a line break. */
function blockCost(character: string): number {
  return character === '\n' ? 3 : /[`@<]/.test(character) ? 2 : character.length
}

/** Values are indented, so that no value can look like another field. */
const toBlock = (name: string, value: string) => inert(`${name}:\n  ${value.replaceAll('\n', '\n  ')}`)

const TITLES: Partial<Record<Notice['event'], string>> = {
  'submission.created': 'New submission',
  'submission.digest': 'New submissions',
  test: 'Test notification',
  'channel.disabled': 'A notification channel was turned off',
  'channel.behind': 'A notification channel falls behind',
  'view.report': 'Report',
  'view.alert': 'Alert',
}

export function slackCompatibleMessage(notice: Notice) {
  const headline = truncateText(formatHeadline(notice), 200, '…', blockCost)
  const attribution = formatAttribution(notice, 400, blockCost)
  const { listed, more } = listNoticeFiles(notice)
  const names = [...listed.map(({ name }, i) => `${i + 1}. ${name}`), more].filter(Boolean)
  const downloads = listed.map(({ url }, i) => `[${DOWNLOAD_LABEL} ${i + 1}](${url})`)
  const link = [`[${OPEN_LABEL}](${notice.url})`, ...downloads].join('\n')
  const frame = [
    '**',
    TITLES[notice.event] ?? notice.event,
    '```',
    '```',
    link,
    formatMostOmitted(notice),
  ].join('\n\n')
  const fixed = frame.length + 2 * (headline.length + attribution.length + names.join('\n').length)
  const lines = [
    inert(headline),
    ...toBodyLines(notice, TEXT_MAX - fixed),
    ...(names.length === 0 ? [] : [inert(names.join('\n'))]),
    ...(attribution === '' ? [] : [inert(attribution)]),
  ]
  return {
    text: `**${TITLES[notice.event] ?? notice.event}**\n\`\`\`\n${lines.join('\n\n')}\n\`\`\`\n${link}`,
  }
}

function toBodyLines(notice: Notice, total: number): string[] {
  if (notice.layout) return [inert(fitLayout(notice.layout, total, blockCost))]
  const { shown, omitted } = fitNotice(notice, { ...ROOM, total })
  return [...shown.map(([name, value]) => toBlock(name, value)), omitted].filter(Boolean)
}

// The words for a hook that is deleted or switched off: Mattermost's error id, and Rocket.Chat's sentence.
const GONE = /^web\.incoming_webhook\.(invalid|disabled)\.app_error$|^Invalid integration id or token/

/** Judges only the programs' own words: a proxy before them answers too. */
export function readSlackCompatible({ status, json }: ServiceResponse): ResponseVerdict {
  const said = toStringOrEmpty(json.message) || toStringOrEmpty(json.error)
  const reason = `The chat server answered ${status}${said === '' ? '' : `: ${said}`}`
  const isGone = [json.id, json.error].some((word) => GONE.test(toStringOrEmpty(word)))
  if (isGone || status === 410) return { permanent: { what: 'channel', reason } }
  return status === 413 ? { permanent: { what: 'message', reason } } : {}
}
