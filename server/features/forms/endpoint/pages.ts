// What people see where a form was posted without a script and without a page to go back to.

import { html } from 'hono/html'
import { renderHtmlPage } from '../../../http/html-page.ts'

type Headers = Record<string, string>

export const thanksPage = () =>
  renderHtmlPage(
    200,
    'Thank you',
    html`<h1>Thank you</h1>
<p>What you sent has arrived. You can close this page.</p>`,
  )

const EXPLANATIONS: Record<number, { title: string; text: string }> = {
  400: {
    title: 'The form could not be read',
    text: 'Something is wrong with how this form sends what you typed. Please tell the owner of the page.',
  },
  403: {
    title: 'This form is closed',
    text: 'The owner of the form does not take submissions from here now. Nothing was stored.',
  },
  404: {
    title: 'Form not found',
    text: 'There is no form at this address any more. Please tell the owner of the page.',
  },
  413: {
    title: 'That was too much',
    text: 'What you sent is larger than this form takes. Go back and shorten it; your text should still be there.',
  },
  415: {
    title: 'The form could not be read',
    text: 'This form sends what you typed in a way that is not understood. Please tell the owner of the page.',
  },
  429: {
    title: 'Please wait a minute',
    text: 'This form was sent very often from your connection. Go back, wait a minute and send it again.',
  },
  503: {
    title: 'Please try again in a moment',
    text: 'What you typed could not be stored just now. Go back and send it again; your text should still be there.',
  },
}
const UNEXPECTED = {
  title: 'Something went wrong',
  text: 'What you typed was not stored. Go back and send it again; your text should still be there.',
}

/** @param error the sentence that programs get, for whoever is asked for help */
export function endpointErrorPage(status: number, error: string, headers: Headers) {
  const { title, text } = EXPLANATIONS[status] ?? UNEXPECTED
  return renderHtmlPage(status, title, html`<h1>${title}</h1>\n<p>${text}</p>\n<p>(${error})</p>`, headers)
}

/** @param errors messages by field; never what was typed */
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
<p>Nothing was stored yet. Go back and send it again; your text should still be there.</p>`,
    headers,
  )
}

export function captchaPage(error: string, headers: Headers) {
  return renderHtmlPage(
    422,
    'Please confirm that you are a person',
    html`<h1>Please confirm that you are a person</h1>
<p role="alert">${error}</p>
<p>Nothing was stored yet. Go back, wait until the check beside the form is done, and send it again.</p>`,
    headers,
  )
}
