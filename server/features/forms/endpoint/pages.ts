// The pages that people see after a native submission, where there is no page to send them back to.

import { html } from 'hono/html'
import { renderHtmlPage } from '../../../http/html-page.ts'

type Headers = Record<string, string>

export const thanksPage = () =>
  renderHtmlPage(
    200,
    'Thank you',
    html`<h1>Thank you</h1>
<p>Your submission has arrived. You can close this page.</p>`,
  )

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
  405: {
    title: 'This is the address of a form',
    text: 'A form on a web page sends to this address. There is nothing to see here. Open the page with the form instead.',
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

/** @param errors messages by field; the page never shows what was typed */
export function fieldErrorsPage(errors: Map<string, string>, headers: Headers) {
  const items = Array.from(errors, ([name, message]) => html`<li><strong>${name}</strong>: ${message}</li>\n`)
  return renderHtmlPage(
    422,
    'Please check the form',
    html`<h1>Please check the form</h1>
<div role="alert">
<ul>
${items}</ul>
</div>
<p>Nothing was stored. Go back, correct the fields and send the form again. Your text should still be there.</p>`,
    headers,
  )
}

export function captchaPage(error: string, headers: Headers) {
  return renderHtmlPage(
    422,
    'Please confirm that you are a person',
    html`<h1>Please confirm that you are a person</h1>
<p role="alert">${error}</p>
<p>Nothing was stored. Go back, wait until the check beside the form is done, and send the form again.</p>`,
    headers,
  )
}
