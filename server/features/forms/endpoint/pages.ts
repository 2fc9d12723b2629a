// The pages that people see after a native submission, where there is no page to send them back to.

import { html } from 'hono/html'
import { renderHtmlPage } from '../../../http/html-page.ts'
import type { PageBrand } from '../../../http/page-brand.ts'
import { fillText, getTexts, type Texts } from '../rules/languages.ts'
import { chooseLanguage, readLanguageRequest } from '../rules/sender-language.ts'
import { type FrameRequest, toFrame } from './framed-page.ts'

type Headers = Record<string, string>
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
  /** Where it is not that of the framed form. */
  brand?: PageBrand
}

export function formThanksPage(
  { successMessage, wayBack, language, frame, brand = frame?.form.brand }: ThanksContent,
  headers: Headers = {},
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
  headers: Headers,
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
  headers: Headers,
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
