// The page about a mistake in a native submission: each message next to its field's name, and a way back that keeps
// the input. Nothing of it is stored, and a stranger's page cannot write on it (`isFromOwnSite`).

import { html } from 'hono/html'
import { type Html, renderHtmlPage } from '../../../http/html-page.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { toFieldLabel } from '../markup.ts'
import { getTexts } from '../rules/languages.ts'
import { isOriginAllowed, readSenderOrigin } from '../settings/allowed-origins.ts'
import type { FormSettings } from '../settings/form-settings.ts'
import { type FramedForm, toFrame } from './pages.ts'

export interface MistakeContext {
  form: Pick<FormSettings, 'requiredFields' | 'rules'> & FramedForm
  /** The headers of the request. */
  headers: Pick<Headers, 'get'>
  /** The page with the form; undefined where nothing tells it. */
  wayBack: URL | undefined
  /** The values that were sent, by field. */
  fields: Map<string, string>
  /** The language of the page's texts. */
  language: string
}

/** Far more than people type. A longer text is left to the form's own page. */
const SHOWN_MAX = 100_000

// A link opens the page anew, with empty fields. The browser's own way back keeps them.
const BACK_SCRIPT = `document.querySelector('#back').addEventListener('click', (event) => {
  if (history.length < 2) return
  event.preventDefault()
  history.back()
})`

/** @param errors messages by field */
export function fieldErrorsPage(
  context: MistakeContext,
  errors: Map<string, string>,
  headers: Record<string, string>,
) {
  const { pages } = getTexts(context.language)
  const items = Array.from(
    errors,
    ([name, message]) => html`<li><strong>${toLabel(context, name)}</strong>: ${message}</li>\n`,
  )
  return mistakePage(
    context,
    {
      title: pages.mistakesTitle,
      problem: html`<div role="alert">\n<ul>\n${items}</ul>\n</div>`,
      advice: pages.mistakes,
    },
    headers,
  )
}

export function captchaPage(context: MistakeContext, error: string, headers: Record<string, string>) {
  const { pages } = getTexts(context.language)
  const problem = html`<p role="alert">${error}</p>`
  return mistakePage(context, { title: pages.captchaTitle, problem, advice: pages.captcha }, headers)
}

function mistakePage(
  context: MistakeContext,
  { title, problem, advice }: { title: string; problem: Html; advice: string },
  headers: Record<string, string>,
) {
  const { wayBack, language } = context
  const { pages } = getTexts(language)
  const link =
    wayBack && html`<p><a id="back" class="button" href="${wayBack.href}">${pages.backToForm}</a></p>`
  const content = html`<h1>${title}</h1>
${problem}
<p>${advice} ${pages.textKept}</p>
${link ?? ''}
${sentFields(context) ?? ''}`
  const { frames, script = '' } = toFrame(context, 'refused')
  const scripts = script + (link ? BACK_SCRIPT : '')
  const { brand } = context.form
  return renderHtmlPage(422, title, content, headers, {
    language,
    brand,
    frames,
    script: scripts || undefined,
  })
}

/** For pages that do not keep their fields: the input can be copied from here. */
function sentFields(context: MistakeContext): Html | undefined {
  if (!isFromOwnSite(context)) return undefined
  const shown = [...context.fields].filter(([, value]) => value.trim() !== '')
  const length = shown.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (shown.length === 0 || length > SHOWN_MAX) return undefined
  const items = shown.map(([name, value]) => html`<dt>${toFieldLabel(name)}</dt>\n<dd>${value}</dd>\n`)
  return html`<details>\n<summary>${getTexts(context.language).pages.sentFields}</summary>\n<dl>\n${items}</dl>\n</details>`
}

/** Names that the form's settings do not have are texts of the sender. */
function toLabel(context: MistakeContext, name: string): string {
  const { requiredFields, rules } = context.form
  const isOwn = name === 'email' || requiredFields.includes(name) || Object.hasOwn(rules, name)
  return isOwn || isFromOwnSite(context) ? toFieldLabel(name) : getTexts(context.language).pages.file
}

/**
 * Any page can post any text to a form. The text is shown only to people who come from a site that the form names.
 * Browsers report the site truthfully, so a stranger's text is never shown to others.
 */
function isFromOwnSite({ form: { allowedOrigins, pageUrl }, headers }: MistakeContext): boolean {
  const origin = readSenderOrigin(headers)
  if (!origin) return false
  if (pageUrl !== null && parseUrl(pageUrl)?.origin === origin.origin) return true
  return allowedOrigins.length > 0 && isOriginAllowed(allowedOrigins, headers)
}
