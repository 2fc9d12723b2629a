// The pages that people see after a native submission, where there is no page to send them back to.

import { html } from 'hono/html'
import { renderHtmlPage } from '../../../http/html-page.ts'

type Headers = Record<string, string>

/** The thanks page of no form, where the way back is not known. */
export const thanksPage = () => formThanksPage({ successMessage: null, wayBack: undefined })

/** @param form what the form's owner chose, and the page that leads back to the form */
export function formThanksPage(
  { successMessage, wayBack }: { successMessage: string | null; wayBack: URL | undefined },
  headers: Headers = {},
) {
  const message = successMessage ?? 'Your submission has arrived.'
  return renderHtmlPage(
    200,
    'Thank you',
    html`<h1>Thank you</h1>
<p class="message">${message}</p>
${wayBack ? html`<p><a class="button" href="${wayBack.href}">Back to ${wayBack.host}</a></p>` : html`<p>You can close this page.</p>`}`,
    headers,
  )
}

const EXPLANATIONS: Record<number, { title: string; text: string }> = {
  400: {
    title: 'The form could not be read',
    text: 'This form sends data that the server cannot read. Please tell the owner of the page.',
  },
  403: {
    title: 'This form is closed',
    text: 'This form does not accept submissions from this page right now. Nothing was stored.',
  },
  404: {
    title: 'Form not found',
    text: 'There is no form at this address. Please tell the owner of the page.',
  },
  413: {
    title: 'Your submission is too large',
    text: 'Go back, shorten your text and send it again. Your text should still be there.',
  },
  415: {
    title: 'The form could not be read',
    text: 'This form sends data in a format that the server does not support. Please tell the owner of the page.',
  },
  429: {
    title: 'Please wait a minute',
    text: 'Too many submissions come in right now. Go back, wait a minute and send the form again.',
  },
  503: {
    title: 'Please try again in a moment',
    text: 'Your submission could not be stored. Go back and send it again. Your text should still be there.',
  },
}
const UNEXPECTED = {
  title: 'Something went wrong',
  text: 'Your submission was not stored. Go back and send it again. Your text should still be there.',
}

/** @param error the message that programs get; the page shows it too, for a person who is asked for help */
export function endpointErrorPage(status: number, error: string, headers: Headers) {
  const { title, text } = EXPLANATIONS[status] ?? UNEXPECTED
  return renderHtmlPage(status, title, html`<h1>${title}</h1>\n<p>${text}</p>\n<p>(${error})</p>`, headers)
}

/** For a person who opens the form's address in a browser. @param page the page with the form, where it is known */
export function formAddressPage(page: URL | undefined, headers: Headers) {
  const text = 'A form on a web page sends to this address.'
  const title = 'This is the address of a form'
  const content = page
    ? html`<p>${text} Open the page with the form to send something.</p>
<p><a class="button" href="${page.href}">Open ${page.host}</a></p>`
    : html`<p>${text} There is nothing to see here. Open the page with the form instead.</p>`
  return renderHtmlPage(405, title, html`<h1>${title}</h1>\n${content}`, headers)
}
