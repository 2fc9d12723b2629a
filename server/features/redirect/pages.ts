// The pages of a short link that does not redirect.

import { html } from 'hono/html'
import { type Html, renderHtmlPage, wantsJson } from '../../http/html-page.ts'
import type { PageBrand } from '../../http/page-brand.ts'
import type { CachedLink } from '../links/cache.ts'

const HEADERS = { 'X-Robots-Tag': 'noindex', 'Cache-Control': 'private, no-store' }

/** The page, or `{"error": …}` where the caller asked for JSON. */
function errorResponse(
  accept: string | null,
  status: number,
  title: string,
  text: string | (string | Html)[],
  headers: Record<string, string> = {},
  brand?: PageBrand,
): Response | Promise<Response> {
  if (wantsJson(accept))
    return Response.json({ error: title }, { status, headers: { ...HEADERS, ...headers } })
  return renderHtmlPage(
    status,
    title,
    html`<h1>${title}</h1>${[text].flat().map((paragraph) => html`<p>${paragraph}</p>`)}`,
    headers,
    { brand },
  )
}

export const notFoundPage = (accept: string | null, brand?: PageBrand) =>
  errorResponse(
    accept,
    404,
    'Link not found',
    'This short link doesn’t exist, or it hasn’t started yet. Check the spelling, or ask the person who sent it to you.',
    {},
    brand,
  )

/** A domain of a workspace that leads nowhere without a slug. */
export const domainPage = (name: string, brand?: PageBrand) =>
  renderHtmlPage(
    200,
    name,
    html`<h1>${name}</h1>
<p>This domain is used for short links, which lead to other pages. There’s nothing else here.</p>`,
    {},
    { brand },
  )

export const gonePage = (accept: string | null, brand?: PageBrand) =>
  errorResponse(
    accept,
    410,
    'Link expired',
    'This short link no longer works. Ask the person who sent it to you for a new one.',
    {},
    brand,
  )

export const unavailablePage = (accept: string | null, retryAfter: number) =>
  errorResponse(
    accept,
    503,
    'Temporarily unavailable',
    'This link can’t be opened right now. Please try again in a moment.',
    {
      'Retry-After': String(retryAfter),
    },
  )

/** @param takesPassword the page asks for a password, which comes by POST */
export const methodNotAllowedPage = (accept: string | null, takesPassword = false) =>
  errorResponse(accept, 405, 'Method not allowed', 'A short link can only be opened with GET or HEAD.', {
    Allow: takesPassword ? 'GET, HEAD, POST' : 'GET, HEAD',
  })

const UNAVAILABLE = {
  suspended: {
    title: 'Link suspended',
    text: 'The operator of this server has suspended this short link, so it doesn’t open.',
  },
  blocked: {
    title: 'Link blocked',
    text: 'This short link leads to a site that the operator of this server blocks, so it doesn’t open.',
  },
}

/** 451 names who blocks the link (RFC 7725 §4). The page does not show the destination. */
export function blockedPage(
  accept: string | null,
  rule: keyof typeof UNAVAILABLE,
  { origin, abuseEmail, shortUrl }: { origin: string; abuseEmail?: string; shortUrl: string },
) {
  const { title, text } = UNAVAILABLE[rule]
  const contact =
    abuseEmail === undefined
      ? 'If you think that this is a mistake, ask the operator of this server.'
      : html`If you think that this is a mistake, write to <a href="${toMailUrl(abuseEmail, `About ${shortUrl}`)}">${abuseEmail}</a>.`
  return errorResponse(accept, 451, title, [text, contact], {
    Link: `<${origin}>; rel="blocked-by"`,
  })
}

/** A `mailto:` URL (RFC 6068): every character that has a meaning there is encoded. */
function toMailUrl(address: string, subject: string): string {
  return `mailto:${encodeURIComponent(address).replace('%40', '@')}?subject=${encodeURIComponent(subject)}`
}

export interface AbuseReport {
  /** The operator's address for reports; without it there is no link to report. */
  abuseEmail?: string
  shortUrl: string
}

function reportLink({ abuseEmail, shortUrl }: AbuseReport) {
  if (abuseEmail === undefined) return ''
  return html`
<p><a href="${toMailUrl(abuseEmail, `Report of ${shortUrl}`)}">Report this link</a></p>`
}

interface PasswordPage {
  status: number
  /** The message about the last try, if there was one. */
  wrong?: string
  report: AbuseReport
  brand?: PageBrand
  headers?: Record<string, string>
}

export function passwordPage({ status, wrong, report, brand, headers = {} }: PasswordPage) {
  const alert = wrong ? html`<p role="alert" id="wrong">${wrong}</p>` : ''
  const described = wrong ? html` aria-invalid="true" aria-describedby="wrong"` : ''
  return renderHtmlPage(
    status,
    'Password needed',
    html`<h1>Password needed</h1>
<p>This link is protected. Enter the password to open it.</p>
${alert}
<form method="post" autocomplete="off">
<label for="password">Password</label>
<input id="password" name="password" type="password" required autofocus maxlength="256" autocomplete="off"${described}>
<button>Open the link</button>
</form>${reportLink(report)}`,
    headers,
    { brand },
  )
}

/** The clicks of a link whose owner shows them to everybody. */
export interface PreviewStats {
  content: Html
  style: string
}

/**
 * The page that shows where a link leads, under the title of its social card, else under the host of the destination.
 * @param destination null for a link with a password: neither it nor the card is shown
 */
export function previewPage(
  link: CachedLink,
  destination: string | null,
  report: AbuseReport,
  { brand, stats }: { brand?: PageBrand; stats?: PreviewStats } = {},
) {
  const { shortUrl } = report
  const name = shortUrl.replace(/^https?:\/\//, '')
  const card = destination === null ? null : link.card
  const heading = card?.title || (destination !== null && new URL(destination).host) || 'Link preview'
  const description = card?.description
    ? html`<p>${card.description}</p>
`
    : ''
  const target =
    destination === null
      ? html`<p>${name} asks for a password. Its destination isn’t shown here.</p>`
      : html`<p>${name} leads to:</p>
<p><a href="${destination}" rel="noopener nofollow ugc">${destination}</a></p>`
  return renderHtmlPage(
    200,
    heading,
    html`<h1>${heading}</h1>
${description}${target}
${stats?.content ?? ''}
<a class="button" href="${shortUrl}" rel="nofollow">Open the link</a>${reportLink(report)}`,
    {},
    { brand, style: stats?.style },
  )
}
