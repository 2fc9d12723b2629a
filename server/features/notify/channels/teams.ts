// Sends an Adaptive Card to Microsoft Teams, through the address of a workflow ("When a Teams webhook request is
// received", https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors).

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
  jsonLength,
  listNoticeFiles,
  OPEN_LABEL,
  truncateText,
  utf8Length,
} from './safe-text.ts'
import { listUrlSecrets } from './service-response.ts'

export const sendTeams: ChannelSender = async (needs, to, notice) => {
  const { url } = to.secrets
  if (!url) return toIncompleteResult('URL')
  const target = { url, shownUrl: maskUrl('teams', url), secrets: listUrlSecrets(url) }
  return postJson(needs, notice, { ...target, body: JSON.stringify(teamsMessage(notice)) }, readTeams)
}

// Teams takes about 28 KB. It counts UTF-16 unless a request names its charset, so this file counts UTF-16 too.
const BYTES_MAX = 27_000
const LINE_COST = 2 * JSON.stringify(line([run('')])).length + 2

function cost(character: string): number {
  return character === '\n' ? LINE_COST : Math.max(2 * jsonLength(character), utf8Length(character))
}

/** A run of plain text. (Teams reads Markdown in TextBlock and FactSet.) */
function run(text: string, style: Record<string, unknown> = {}) {
  return { type: 'TextRun', text, ...style }
}

/** One line: a run cannot contain line breaks. */
function line(inlines: object[], style: Record<string, unknown> = { spacing: 'None' }) {
  return { type: 'RichTextBlock', inlines, ...style }
}

const toAction = (title: string, url: string) => ({ type: 'Action.OpenUrl', title, url })

const toMessage = (body: object[], actions: object[]) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body,
        actions,
      },
    },
  ],
})

const nameLine = (name: string) => line([run(name, { weight: 'Bolder' })], { spacing: 'Medium' })
const softLine = (text: string) => line([run(text, { isSubtle: true })], { spacing: 'Medium' })

export function teamsMessage(notice: Notice) {
  const title = truncateText(formatHeadline(notice), 600, '…', cost)
  const top = line([run(title, { weight: 'Bolder', size: 'Large' })], {})
  const attribution = formatAttribution(notice, 1000, cost)
  const { listed, more } = listNoticeFiles(notice)
  const names = [...listed.map(({ name }, i) => `${i + 1}. ${name}`), more].filter(Boolean)
  const end = [...names, attribution].filter(Boolean).map(softLine)
  const actions = listed.map(({ url }, i) => toAction(`${DOWNLOAD_LABEL} ${i + 1}`, url))
  const toCard = (body: object[]) => toMessage(body, [toAction(OPEN_LABEL, notice.url), ...actions])
  const most = softLine(formatMostOmitted(notice))
  const fixed = JSON.stringify(toCard([top, most, ...end]))
  const total = BYTES_MAX - 2 * fixed.length
  if (notice.layout) {
    const lines = fitLayout(notice.layout, total - LINE_COST, cost).split('\n')
    return toCard([top, ...lines.map(valueLine), ...end])
  }
  const { shown, omitted } = fitNotice(notice, {
    fields: 256,
    name: 512,
    value: 8000,
    total,
    each: LINE_COST + 2 * JSON.stringify(nameLine('')).length,
    cost,
  })
  const fields = shown.flatMap(([name, value]) => [nameLine(name), ...value.split('\n').map(valueLine)])
  return toCard([top, ...fields, ...(omitted ? [softLine(omitted)] : []), ...end])
}

// Some clients fail on an empty run.
const valueLine = (text: string) => line([run(text || ' ')])

// The error codes for a workflow that is switched off or removed
// (https://learn.microsoft.com/azure/logic-apps/logic-apps-workflow-actions-triggers).
const SWITCHED_OFF = /^Workflow\w*(NotEnabled|NotFound|Disabled|Deleted)$|^(Direct|Trigger)\w*Authoriz/

function readTeams({ status, json }: ServiceResponse): ResponseVerdict {
  const { code, message } = (json.error ?? {}) as { code?: unknown; message?: unknown }
  const reason = `Teams answered ${status}: ${[code, message].map(toStringOrEmpty).filter(Boolean).join(': ')}`
  const channel = { permanent: { what: 'channel', reason } } as const
  if (status === 410 || SWITCHED_OFF.test(toStringOrEmpty(code))) return channel
  // With a code, the answer is the workflow's own. A proxy sends none.
  if ((status === 401 || status === 403 || status === 404) && toStringOrEmpty(code) !== '') return channel
  return status === 400 || status === 413 ? { permanent: { what: 'message', reason } } : {}
}
