// Renders the pages that visitors see: small, readable in dark mode and on a phone. They load only a logo from this
// server.

import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import { findRequest } from '../lib/telemetry/request-context.ts'
import { type BrandParts, type PageBrand, toBrandParts } from './page-brand.ts'

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2421; --soft: #57635e; --paper: #f6f7f4; --card: #fff; --line: #d5dbd7; --go: #17624a; --on-go: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecea; --soft: #a3afa9; --paper: #121614; --card: #1b211e; --line: #37403b; --go: #6cc9a5; --on-go: #0c1512 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; font: 1.0625rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); overflow-wrap: anywhere }
main { width: 100%; max-width: 30rem; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.25 }
p { margin: 0 0 1rem; color: var(--soft) } p:last-child { margin-bottom: 0 }
a { color: var(--go) }
label { display: block; margin-bottom: .375rem; font-weight: 600 }
input { width: 100%; padding: .625rem .75rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: .5rem }
button, .button { display: inline-block; margin-top: 1rem; padding: .625rem 1.25rem; font: inherit; font-weight: 600; color: var(--on-go); background: var(--go); border: 0; border-radius: .5rem; text-decoration: none; cursor: pointer }
form + p, .button + p { margin: 1rem 0 0 }
:focus-visible { outline: 3px solid var(--go); outline-offset: 2px }
ul { margin: 0; padding-left: 1.25rem }
[role=alert] { margin-bottom: 1rem } .message, dd { white-space: pre-wrap }
summary { cursor: pointer; color: var(--go) } dl { margin: .75rem 0 0 } dt { font-weight: 600 } dd { margin: 0 0 .75rem }
[role=alert] { color: var(--ink); border-left: 4px solid #c2442d; padding-left: .75rem }
`
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64')
const STYLE_HASH = sha256(STYLE)

// No form-action: browsers apply it also to the redirect after a form, and that leads to the link's destination.
const toPolicy = ({ sources: { style, image } }: BrandParts, own: string) =>
  `default-src 'none'; style-src 'sha256-${STYLE_HASH}'${style.join('')}${own && ` 'sha256-${sha256(own)}'`}${image}; base-uri 'none'`

export type Html = ReturnType<typeof html>

export interface PageExtras {
  /** A fixed text of ours, the only script that may run on the page. */
  script?: string
  /** A fixed text of ours, after the style that all pages have. */
  style?: string
  /** Elements for the head, built with `html`. */
  head?: Html
  /** The brand of the workspace that the page belongs to. */
  brand?: PageBrand
  /** The language of the texts; English by default. */
  language?: string
  /** Origins that may frame the page; none by default. */
  frames?: string[]
}

/**
 * @param content must be built with `html`, which escapes texts
 */
export async function renderHtmlPage(
  status: number,
  title: string,
  content: Html,
  headers: Record<string, string> = {},
  { script, style = '', head, brand, language = 'en', frames = ["'none'"] }: PageExtras = {},
) {
  const parts = toBrandParts(brand)
  const policy = `${toPolicy(parts, style)}; frame-ancestors ${frames.join(' ')}`
  const document = await html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>${head ?? ''}
<style>${raw(STYLE)}</style>${parts.style && html`<style>${raw(parts.style)}</style>`}${style && html`<style>${raw(style)}</style>`}
</head>
<body>${parts.header}<main>${content}${status >= 500 ? toRequestIdLine() : ''}</main>${parts.footer}${script ? html`<script>${raw(script)}</script>` : ''}</body>
</html>
`
  return new Response(document.toString(), {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': script ? `${policy}; script-src 'sha256-${sha256(script)}'` : policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'X-Robots-Tag': 'noindex',
      'Cache-Control': 'private, no-store',
      ...headers,
    },
  })
}

/** The id of the request, for reports of a fault: the log has its lines under it. */
function toRequestIdLine(): Html | string {
  const request = findRequest()
  return request ? html`<p>Request id: <code>${request.id}</code></p>` : ''
}

/** Programs that accept JSON get JSON. Browsers and all others get the page. */
export function wantsJson(accept: string | null): boolean {
  return accept !== null && /application\/(?:\w+\+)?json/i.test(accept) && !/text\/html/i.test(accept)
}
