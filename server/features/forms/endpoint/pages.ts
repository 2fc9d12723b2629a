// The pages that people see after a native submission, where there is no page to send them back to. A page in a frame of the
// form's own site tells its parent whether the submission has arrived.

import { html } from 'hono/html'
import { type PageExtras, renderHtmlPage } from '../../../http/html-page.ts'
import type { PageBrand } from '../../../http/page-brand.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { fillText, getTexts, type Texts } from '../rules/languages.ts'
import { chooseLanguage, readLanguageRequest } from '../rules/sender-language.ts'
import type { FormSettings } from '../settings/form-settings.ts'

export interface FramedForm extends Pick<FormSettings, 'formKey' | 'pageUrl' | 'allowedOrigins' | 'brand'> {}

/** The form, and the request for its page. */
export interface FrameRequest {
  form: FramedForm
  headers: Pick<Headers, 'get'>
}

/**
 * Only the sites that the form names may frame its pages. Without such a list, framing is refused.
 * @returns the allowed sites, and the script of the page
 */
export function toFrame(
  { form: { formKey, pageUrl, allowedOrigins }, headers }: FrameRequest,
  outcome: 'accepted' | 'refused',
): Pick<PageExtras, 'frames' | 'script'> {
  const page = pageUrl === null ? undefined : parseUrl(pageUrl)?.origin
  const frames = [...new Set([...(page === undefined ? [] : [page]), ...allowedOrigins])]
  if (frames.length === 0) return {}
  // Browsers say so themselves (https://w3c.github.io/webappsec-fetch-metadata/#sec-fetch-dest-header).
  if (!/^i?frame$/.test(headers.get('sec-fetch-dest') ?? '')) return { frames }
  // Only an allowed site can be the parent, and the message contains no submitted text.
  const message = JSON.stringify({ towpath: outcome, formKey })
  return { frames, script: `if (parent !== self) parent.postMessage(${message}, '*');` }
}

type AnswerHeaders = Record<string, string>
type PageTexts = Texts['pages']

/** The thanks page of no form, where the way back is not known. */
export function thanksPage(request: Request) {
  const { builtIn: language } = chooseLanguage(readLanguageRequest(request))
  return formThanksPage({ successMessage: null, wayBack: undefined, language })
}

export interface ThanksContent {
  /** The message of the form's owner. */
  successMessage: string | null
  /** The page that leads back to the form. */
  wayBack: URL | undefined
  language: string
  /** Absent on the thanks page of no form. */
  frame?: FrameRequest
  /** The brand of the page, if not that of the framed form. */
  brand?: PageBrand
}

export function formThanksPage(
  { successMessage, wayBack, language, frame, brand = frame?.form.brand }: ThanksContent,
  headers: AnswerHeaders = {},
) {
  const { pages } = getTexts(language)
  const message = successMessage ?? pages.thanks
  const back =
    wayBack &&
    html`<p><a class="button" href="${wayBack.href}">${fillText(pages.backTo, { host: wayBack.host })}</a></p>`
  return renderHtmlPage(
    200,
    pages.thanksTitle,
    html`<h1>${pages.thanksTitle}</h1>
<p class="message">${message}</p>
${back ?? html`<p>${pages.closePage}</p>`}`,
    headers,
    { language, brand, ...(frame && toFrame(frame, 'accepted')) },
  )
}

const EXPLANATIONS: Record<number, [title: keyof PageTexts, text: keyof PageTexts]> = {
  400: ['unreadableTitle', 'unreadable'],
  403: ['closedTitle', 'closed'],
  404: ['notFoundTitle', 'notFound'],
  413: ['tooLargeTitle', 'tooLarge'],
  415: ['unreadableTitle', 'formatUnknown'],
  429: ['tooManyTitle', 'tooMany'],
  503: ['unavailableTitle', 'unavailable'],
}
const UNEXPECTED: [keyof PageTexts, keyof PageTexts] = ['unexpectedTitle', 'unexpected']
/** After these, the browser's way back shows the form as it was sent. */
const keepsText = (status: number) => status === 413 || status >= 500

/** @param error the message that programs get; the page shows it too, for a person who is asked for help */
export function endpointErrorPage(
  {
    status,
    error,
    language,
    frame,
  }: { status: number; error: string; language: string; frame?: FrameRequest },
  headers: AnswerHeaders,
) {
  const { pages } = getTexts(language)
  const [titleKey, textKey] = EXPLANATIONS[status] ?? UNEXPECTED
  const title = pages[titleKey]
  const text = keepsText(status) ? `${pages[textKey]} ${pages.textKept}` : pages[textKey]
  const content = html`<h1>${title}</h1>\n<p>${text}</p>\n<p lang="en">(${error})</p>`
  return renderHtmlPage(status, title, content, headers, {
    language,
    brand: frame?.form.brand,
    ...(frame && toFrame(frame, 'refused')),
  })
}

/** For a person who opens the form's address in a browser. @param page the page with the form, where it is known */
export function formAddressPage(
  page: URL | undefined,
  language: string,
  headers: AnswerHeaders,
  brand?: PageBrand,
) {
  const { pages } = getTexts(language)
  const content = page
    ? html`<p>${pages.address} ${pages.addressOpen}</p>
<p><a class="button" href="${page.href}">${fillText(pages.open, { host: page.host })}</a></p>`
    : html`<p>${pages.address} ${pages.addressEmpty}</p>`
  const title = pages.addressTitle
  return renderHtmlPage(405, title, html`<h1>${title}</h1>\n${content}`, headers, { language, brand })
}
