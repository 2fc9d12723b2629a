// The text and HTML bodies of a mail to a sender, in the brand of the workspace or the form. The HTML has the same words: its
// only links are those of this server, and only the logo is loaded.

import { html } from 'hono/html'
import type { MailBrand } from '../../accounts/brand/brand.ts'
import { MAIL_FONT, MAIL_META, MAIL_SOFT, toLines } from '../channels/mail-body.ts'

const COLOR = '#17624a'

interface Reply {
  text: string
  stopUrl: string
  confirmUrl?: string
  brand: MailBrand
}

/** Without anything of a brand, a mail has text alone. */
export function renderReplyBody(reply: Reply): { text: string; html?: string } {
  const { name, logo, color, footer } = reply.brand
  const text = footer === null ? reply.text : `${reply.text.trimEnd()}\n\n-- \n${footer}\n`
  if (name === null && logo === null && color === null) return { text }
  return { text, html: renderHtml(reply) }
}

function renderHtml({ text, confirmUrl, stopUrl, brand }: Reply): string {
  const { name, logo, color, footer } = brand
  const header = logo
    ? html`<p style="margin:0 0 24px"><img src="${logo}" alt="${name ?? ''}" height="40" style="max-height:40px;max-width:240px;border:0"></p>`
    : name && html`<p style="margin:0 0 24px;font-weight:600">${name}</p>`
  const link = `color:${color ?? COLOR}`
  // Only our own addresses become links.
  const urls = [confirmUrl, stopUrl].filter((url) => url !== undefined)
  const pieces = urls.reduce<(string | { url: string })[]>(
    (parts, url) => parts.flatMap((part) => (typeof part === 'string' ? splitAt(part, url) : [part])),
    [text.trimEnd()],
  )
  const body = pieces.map((piece) =>
    typeof piece === 'string'
      ? toLines(piece)
      : html`<a href="${piece.url}" style="${link}">${piece.url}</a>`,
  )
  return String(html`<!doctype html>
<html>
<head>${MAIL_META}</head>
<body style="${MAIL_FONT};color:#1c2421;margin:0;padding:16px">
<div style="max-width:600px">${color && html`<div style="height:4px;background:${color};margin:0 0 24px"></div>`}${header ?? ''}
<div dir="auto" style="overflow-wrap:anywhere">${body}</div>
${footer && html`<p dir="auto" style="${MAIL_SOFT};margin:24px 0 0">${toLines(footer)}</p>`}
</div>
</body>
</html>
`)
}

const splitAt = (text: string, url: string) =>
  text.split(url).flatMap((part, at) => (at === 0 ? [part] : [{ url }, part]))
