// Renders a notification as the text and HTML bodies of a mail. The mail loads nothing, and its only links are Towpath's.

import { html } from 'hono/html'
import type { Notice } from './contract.ts'
import {
  fitFields,
  formatAttribution,
  formatHeadline,
  formatOmittedFields,
  OPEN_LABEL,
  truncateText,
  utf8Length,
} from './safe-text.ts'

// Gmail shows the first 102 KB of a mail, markup included. The markup of a field has about 220 bytes.
const HTML_ROOM = { fields: 256, name: 256, value: 20_000, total: 98_000, each: 230, cost: htmlLength }
const TEXT_ROOM = { ...HTML_ROOM, each: 8, cost: utf8Length }
const TITLE_MAX = 200
const ATTRIBUTION_MAX = 400
const STOP_LABEL = 'Stop these mails'

function htmlLength(character: string): number {
  return /[&<>"']/.test(character) ? '&quot;'.length : utf8Length(character)
}

/** Values are indented, so that no value can look like another field. */
/** @param stopUrl where the recipient stops these mails */
export function mailText(notice: Notice, stopUrl?: string): string {
  const { shown, omitted } = fitFields(notice.fields, TEXT_ROOM)
  const attribution = formatAttribution(notice, ATTRIBUTION_MAX)
  const fields = shown.map(([name, value]) => `${name}:\n  ${value.replaceAll('\n', '\n  ')}`)
  return [
    truncateText(formatHeadline(notice), TITLE_MAX),
    ...fields,
    ...(omitted > 0 ? [formatOmittedFields(omitted)] : []),
    ...(attribution === '' ? [] : [attribution]),
    `${OPEN_LABEL}: ${notice.url}${stopUrl === undefined ? '\n' : ''}`,
    ...(stopUrl === undefined ? [] : [`${STOP_LABEL}: ${stopUrl}\n`]),
  ].join('\n\n')
}

const FONT = "font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif"
const SOFT = 'color:#57635e;font-size:14px'

// Styles are inline, because many mail programs drop all others.
export function mailHtml(notice: Notice, stopUrl?: string): string {
  const { shown, omitted } = fitFields(notice.fields, HTML_ROOM)
  const attribution = formatAttribution(notice, ATTRIBUTION_MAX)
  const fields = shown.map(
    ([name, value]) =>
      html`<dt dir="auto" style="${SOFT};margin:16px 0 0">${name}</dt>
<dd dir="auto" style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere">${value}</dd>
`,
  )
  const title = truncateText(formatHeadline(notice), TITLE_MAX)
  const softLine = (text: string) => html`<p dir="auto" style="${SOFT};margin:16px 0 0">${text}</p>`
  const body = html`<!doctype html>
<html>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no"><title>${title}</title></head>
<body style="${FONT};color:#1c2421;margin:0;padding:16px">
<h1 dir="auto" style="font-size:20px;margin:0">${title}</h1>
<dl style="margin:0">
${fields}</dl>
${omitted > 0 ? softLine(formatOmittedFields(omitted)) : ''}
${attribution === '' ? '' : softLine(attribution)}
<p style="margin:16px 0 0"><a href="${notice.url}" style="color:#17624a">${OPEN_LABEL}</a></p>
${stopUrl === undefined ? '' : html`<p style="margin:16px 0 0"><a href="${stopUrl}" style="${SOFT}">${STOP_LABEL}</a></p>`}
</body>
</html>
`
  // `html` returns a promise only when a part of it is one.
  return String(body)
}
