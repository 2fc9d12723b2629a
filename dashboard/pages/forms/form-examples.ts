// Code to copy: a form as HTML, with fetch, and in React, with its real endpoint and the fields that its settings name.

import { HONEYPOT_HTML } from '../../../server/features/forms/markup.ts'
import {
  type ExampleForm,
  escapeHtml,
  listFieldNames,
  toControlLabel,
  writeConsentInput,
  writeControl,
  writeEncoding,
  writeFileInput,
  writeLanguage,
} from './form-controls.ts'

/** The fields, and the honeypot: only bots fill it in, and the server drops those submissions. */
function writeFields(form: ExampleForm, indent: string, close: (html: string) => string = (html) => html) {
  const fields = listFieldNames(form).map(
    (name) => `<label>${escapeHtml(toControlLabel(name, form))} ${writeControl(name, form)}</label>`,
  )
  const { uploads, consent } = form
  const files = uploads
    ? [`<label>${uploads.maxFiles > 1 ? 'Files' : 'File'} ${writeFileInput(form)}</label>`]
    : []
  const consents = consent
    ? [`<label>${writeConsentInput(consent.field, form)} ${escapeHtml(consent.text)}</label>`]
    : []
  return [...fields, ...files, ...consents, ...writeLanguage(form.messages), HONEYPOT_HTML]
    .map((html) => indent + close(html))
    .join('\n')
}

export const htmlExample = (
  form: ExampleForm,
) => `<form action="${escapeHtml(form.endpoint)}" method="post"${writeEncoding(form)}>
${writeFields(form, '  ')}
  <button>Send</button>
</form>`

/** Shown when there is no answer, or one of another server: people must not believe that the form was sent. */
const NOT_SENT = 'This could not be sent. Check your connection and try again.'

export const fetchExample = (form: ExampleForm) => `<form id="contact">
${writeFields(form, '  ')}
  <button>Send</button>
  <p role="status"></p>
</form>

<script type="module">
  const form = document.querySelector('#contact')
  const status = form.querySelector('[role=status]')
  const button = form.querySelector('button')

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    // A disabled button takes no second click, and no Enter.
    button.disabled = true
    status.textContent = 'Sending…'
    try {
      const response = await fetch('${form.endpoint}', {
        method: 'POST',
        headers: { Accept: 'application/json' },
        body: new FormData(form),
      })
      const answer = await response.json()
      if (answer.ok) {
        // The button stays disabled: the second click of a double click would send an empty form.
        form.reset()
        status.textContent = ${toScriptString(form.successMessage ?? 'Thank you!')}
        return
      }
      // By field where it was the input: { "errors": { "email": "Enter a valid email address" } }
      status.textContent = Object.values(answer.errors ?? { error: answer.error }).join(' ')
    } catch {
      status.textContent = '${NOT_SENT}'
    }
    button.disabled = false
  })
</script>`

/** A string literal that is safe inside a page's script. */
const toScriptString = (value: string) => JSON.stringify(value).replaceAll('<', '\\u003c')

const toJsx = (html: string) =>
  html
    .replace(/<input([^>]*)>/g, '<input$1 />')
    .replace('minlength=', 'minLength=')
    .replace('maxlength=', 'maxLength=')
    .replace('></textarea>', ' />')
    .replace('tabindex="-1"', 'tabIndex={-1}')
    .replace('autocomplete=', 'autoComplete=')
    .replace(/ style="([^"]*)"/, (_, style: string) => ` style={{ ${toStyleObject(style)} }}`)

/** `position: 'absolute', left: '-9999px'` */
const toStyleObject = (style: string) =>
  style
    .split(';')
    .map((rule) => rule.replace(/:(.*)/, ": '$1'"))
    .join(', ')

export const reactExample = (form: ExampleForm) => `import { useState } from 'react'

export function ContactForm() {
  const [state, setState] = useState({ busy: false, sent: false, errors: {} })

  async function send(event) {
    event.preventDefault()
    if (state.busy) return
    const body = new FormData(event.currentTarget)
    setState({ busy: true, sent: false, errors: {} })
    try {
      const response = await fetch('${form.endpoint}', {
        method: 'POST',
        headers: { Accept: 'application/json' },
        body,
      })
      const answer = await response.json()
      const errors = answer.ok ? {} : (answer.errors ?? { form: answer.error })
      setState({ busy: false, sent: answer.ok === true, errors })
    } catch {
      setState({ busy: false, sent: false, errors: { form: '${NOT_SENT}' } })
    }
  }

  if (state.sent) return <p role="status">{${toScriptString(form.successMessage ?? 'Thank you!')}}</p>
  return (
    <form onSubmit={send}>
${writeFields(form, '      ', toJsx)}
      <button disabled={state.busy}>Send</button>
      {Object.entries(state.errors).map(([field, message]) => (
        <p key={field} role="alert">{message}</p>
      ))}
    </form>
  )
}`
