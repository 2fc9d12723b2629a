// Microsoft Teams through a workflow's address ("When a Teams webhook request is received"): an Adaptive Card in a
// message, as https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors says.

import type { Notice, Send } from '../notice.ts'
import { secretsOfUrl } from './answer.ts'
import { closing, cutText, fitFields, headline, jsonLength, moreFields, OPEN, utf8Length } from './cut.ts'
import { incomplete, post, type Reading, type Reply, textOf } from './post.ts'

export const sendTeams: Send = async (needs, to, notice) => {
  const { url } = to.secrets
  if (!url) return incomplete('URL')
  const message = { url, body: JSON.stringify(teamsMessage(notice)), secrets: secretsOfUrl(url) }
  return post(needs, notice, message, readTeams)
}

// About 28 KB, which Teams counts in UTF-16 where it does not know better: so does this.
const BYTES_MAX = 27_000
const LINE_COST = 2 * JSON.stringify(line([run('')])).length + 2

function cost(character: string): number {
  return character === '\n' ? LINE_COST : Math.max(2 * jsonLength(character), utf8Length(character))
}

/** A run of text: not Markdown, as TextBlock and FactSet are. */
function run(text: string, style: Record<string, unknown> = {}) {
  return { type: 'TextRun', text, ...style }
}

/** A line of its own; runs have no line breaks. */
function line(inlines: object[], style: Record<string, unknown> = { spacing: 'None' }) {
  return { type: 'RichTextBlock', inlines, ...style }
}

const cardIn = (body: object[], url: string) => ({
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
        actions: [{ type: 'Action.OpenUrl', title: OPEN, url }],
      },
    },
  ],
})

const nameLine = (name: string) => line([run(name, { weight: 'Bolder' })], { spacing: 'Medium' })
const softLine = (text: string) => line([run(text, { isSubtle: true })], { spacing: 'Medium' })

export function teamsMessage(notice: Notice) {
  const title = cutText(headline(notice), 600, '…', cost)
  const top = line([run(title, { weight: 'Bolder', size: 'Large' })], {})
  const attribution = closing(notice, 1000, cost)
  const end = attribution === '' ? [] : [softLine(attribution)]
  const fixed = JSON.stringify(cardIn([top, softLine(moreFields(9999)), ...end], notice.url))
  const { shown, more } = fitFields(notice.fields, {
    fields: 256,
    name: 512,
    value: 8000,
    total: BYTES_MAX - 2 * fixed.length,
    each: LINE_COST + 2 * JSON.stringify(nameLine('')).length,
    cost,
  })
  const fields = shown.flatMap(([name, value]) => [nameLine(name), ...value.split('\n').map(valueLine)])
  const rest = more > 0 ? [softLine(moreFields(more))] : []
  return cardIn([top, ...fields, ...rest, ...end], notice.url)
}

// An empty run is an error to some clients.
const valueLine = (text: string) => line([run(text || ' ')])

// https://learn.microsoft.com/azure/logic-apps/logic-apps-workflow-actions-triggers: what a workflow that is switched
// off or removed is answered for.
const SWITCHED_OFF = /^Workflow\w*(NotEnabled|NotFound|Disabled|Deleted)$|^(Direct|Trigger)\w*Authoriz/

function readTeams({ status, json }: Reply): Reading {
  const { code, message } = (json.error ?? {}) as { code?: unknown; message?: unknown }
  const reason = `Teams answered ${status}: ${[code, message].map(textOf).filter(Boolean).join(': ')}`
  const channel = { permanent: { what: 'channel', reason } } as const
  if (status === 410 || SWITCHED_OFF.test(textOf(code))) return channel
  // By the workflow itself, not by what stands before it.
  if ((status === 401 || status === 403 || status === 404) && textOf(code) !== '') return channel
  return status === 400 || status === 413 ? { permanent: { what: 'message', reason } } : {}
}
