// Renders a notification as the text and HTML bodies of a mail. The mail loads nothing, and its only links are Towpath's.

import { html, raw } from 'hono/html'
import type { Notice } from './contract.ts'
import { renderReport } from './report-body.ts'
import {
  DOWNLOAD_LABEL,
  fitLayout,
  fitNotice,
  formatAttribution,
  formatHeadline,
  listNoticeFiles,
  OPEN_LABEL,
  truncateText,
  utf8Length,
} from './safe-text.ts'

// Gmail shows the first 102 KB of a mail, markup included. The markup of a field has about 220 bytes.
const HTML_ROOM = { fields: 256, name: 256, value: 20_000, total: 98_000, each: 230, cost: htmlLength }
const TEXT_ROOM = { ...HTML_ROOM, each: 8, cost: utf8Length }
const TITLE_MAX = 200
const ATTRIBUTION_MAX = 400
/** Spam filters know shorter texts from spam (END_FUTURE_EMAILS of SpamAssassin). */
const STOP_LABEL = 'Stop receiving these emails'

const LINE_END = '<br>'

function htmlLength(character: string): number {
  if (character === '\n') return LINE_END.length
  return /[&<>"']/.test(character) ? '&quot;'.length : utf8Length(character)
}

/** Values are indented, so that no value can look like another field. @param stopUrl where the recipient stops these mails */
export function mailText(notice: Notice, stopUrl?: string): string {
  const attribution = formatAttribution(notice, ATTRIBUTION_MAX)
  const paragraphs = [
    ...toTextBody(notice),
    ...toTextFiles(notice),
    ...(attribution === '' ? [] : [attribution]),
    ...(notice.layout?.hasUrl ? [] : [`${OPEN_LABEL}: ${notice.url}`]),
    ...(stopUrl === undefined ? [] : [`${STOP_LABEL}: ${stopUrl}`]),
  ]
  return `${paragraphs.join('\n\n')}\n`
}

/** Indented as values are, so that no name can look like a line of ours. */
function toTextFiles(notice: Notice): string[] {
  const { listed, more } = listNoticeFiles(notice)
  const lines = listed.map(({ name, url }) => `${DOWNLOAD_LABEL}:\n  ${name}\n  ${url}`)
  return more === '' ? lines : [...lines, more]
}

/** In the owner's layout, the mail has no headline: its subject says what it is. */
function toTextBody(notice: Notice): string[] {
  if (notice.layout) return [fitLayout(notice.layout, TEXT_ROOM.total, utf8Length)]
  const { shown, omitted } = fitNotice(notice, TEXT_ROOM)
  return [
    truncateText(formatHeadline(notice), TITLE_MAX),
    ...shown.map(([name, value]) => `${name}:\n  ${value.replaceAll('\n', '\n  ')}`),
    ...(omitted ? [omitted] : []),
  ]
}

export const MAIL_META = raw(
  '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">',
)
export const MAIL_FONT = "font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif"
export const MAIL_SOFT = 'color:#57635e;font-size:14px'

/** Outlook takes no `white-space`. A line end beside the element would be a second one for all others. */
export const toLines = (text: string) => raw(String(html`${text}`).replaceAll('\n', LINE_END))

const softLine = (text: string) => html`<p dir="auto" style="${MAIL_SOFT};margin:16px 0 0">${text}</p>`
const toLink = (url: string, label: string) => html`<a href="${url}" style="color:#17624a">${label}</a>`

function toHtmlBody(notice: Notice, title: string) {
  if (notice.layout) {
    const text = fitLayout(notice.layout, HTML_ROOM.total, htmlLength)
    // Only our own address becomes a link.
    const pieces = text.split(notice.url)
    const linked = pieces.map((piece, i) =>
      i === 0 ? toLines(piece) : html`${toLink(notice.url, notice.url)}${toLines(piece)}`,
    )
    return html`<div dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere">${linked}</div>`
  }
  if (notice.report) return renderReport(notice.report)
  const { shown, omitted } = fitNotice(notice, HTML_ROOM)
  const fields = shown.map(
    ([name, value]) =>
      html`<dt dir="auto" style="${MAIL_SOFT};margin:16px 0 0">${name}</dt>
<dd dir="auto" style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere">${toLines(value)}</dd>
`,
  )
  return html`<h1 dir="auto" style="font-size:20px;margin:0">${title}</h1>
<dl style="margin:0">
${fields}</dl>
${omitted ? softLine(omitted) : ''}`
}

function toHtmlFiles(notice: Notice) {
  const { listed, more } = listNoticeFiles(notice)
  const lines = listed.map(
    ({ name, url }) => html`<p dir="auto" style="margin:16px 0 0">${toLink(url, DOWNLOAD_LABEL)} ${name}</p>
`,
  )
  return html`${lines}${more === '' ? '' : softLine(more)}`
}

// Styles are inline, because many mail programs drop all others.
export function mailHtml(notice: Notice, stopUrl?: string): string {
  const attribution = formatAttribution(notice, ATTRIBUTION_MAX)
  const title = truncateText(formatHeadline(notice), TITLE_MAX)
  const body = html`<!doctype html>
<html>
<head>${MAIL_META}<title>${title}</title></head>
<body style="${MAIL_FONT};color:#1c2421;margin:0;padding:16px">
${toHtmlBody(notice, title)}
${toHtmlFiles(notice)}
${attribution === '' ? '' : softLine(attribution)}
${notice.layout?.hasUrl ? '' : html`<p style="margin:16px 0 0">${toLink(notice.url, OPEN_LABEL)}</p>`}
${stopUrl === undefined ? '' : html`<p style="margin:16px 0 0"><a href="${stopUrl}" style="${MAIL_SOFT}">${STOP_LABEL}</a></p>`}
</body>
</html>
`
  // `html` returns a promise only when a part of it is one.
  return String(body)
}
