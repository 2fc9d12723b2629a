// Code to copy: a form as HTML, with fetch, and in React, with its real endpoint and its required fields.

import type { FormResource } from '../../../server/features/forms/schema.ts'

export type ExampleForm = Pick<FormResource, 'endpoint' | 'requiredFields' | 'captcha' | 'successMessage'>

const USUAL_FIELDS = ['name', 'email', 'message']

/** Name, e-mail and message, and the form's required fields. */
export const listFieldNames = ({ requiredFields }: Pick<FormResource, 'requiredFields'>) => [
  ...new Set([...USUAL_FIELDS, ...requiredFields]),
]

const escapeHtml = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('{', '&#123;')
    .replaceAll('}', '&#125;')
/** `First name` for `first_name`. */
export const toFieldLabel = (name: string) => {
  const words = name
    .replace(/[-_[\]]+/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .trim()
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const isLongText = (name: string) => /message|comment|question|description|text$/i.test(name)
export const isEmailName = (name: string) => name.toLowerCase() === 'email'

function writeControl(name: string, required: boolean): string {
  const attributes = `name="${escapeHtml(name)}"${required ? ' required' : ''}`
  if (isLongText(name)) return `<textarea ${attributes}></textarea>`
  return isEmailName(name) ? `<input type="email" ${attributes}>` : `<input ${attributes}>`
}

function writeFields(form: ExampleForm, indent: string, close: (html: string) => string = (html) => html) {
  return listFieldNames(form)
    .map((name) => {
      const html = `<label>${escapeHtml(toFieldLabel(name))} ${writeControl(name, form.requiredFields.includes(name))}</label>`
      return indent + close(html)
    })
    .join('\n')
}

/** A hidden field. Only bots fill it in, and the server drops those submissions. */
const HONEYPOT = '<input type="hidden" name="_gotcha">'

export const htmlExample = (form: ExampleForm) => `<form action="${escapeHtml(form.endpoint)}" method="post">
${writeFields(form, '  ')}
  ${HONEYPOT}
  <button>Send</button>
</form>`

export const fetchExample = (form: ExampleForm) => `<form id="contact">
${writeFields(form, '  ')}
  <button>Send</button>
  <p role="status"></p>
</form>

<script type="module">
  const form = document.querySelector('#contact')
  const status = form.querySelector('[role=status]')

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const response = await fetch('${form.endpoint}', {
      method: 'POST',
      headers: { Accept: 'application/json' },
      body: new FormData(form),
    })
    const answer = await response.json()
    if (answer.ok) {
      form.reset()
      status.textContent = ${toScriptString(form.successMessage ?? 'Thank you!')}
    } else {
      // By field where it was the input: { "errors": { "email": "Enter a valid email address" } }
      status.textContent = Object.values(answer.errors ?? { error: answer.error }).join(' ')
    }
  })
</script>`

/** A string literal that is safe inside a page's script. */
const toScriptString = (value: string) => JSON.stringify(value).replaceAll('<', '\\u003c')

const toJsx = (html: string) => html.replace(/<input([^>]*)>/g, '<input$1 />').replace('></textarea>', ' />')

export const reactExample = (form: ExampleForm) => `import { useState } from 'react'

export function ContactForm() {
  const [state, setState] = useState({ sent: false, errors: {} })

  async function send(event) {
    event.preventDefault()
    const response = await fetch('${form.endpoint}', {
      method: 'POST',
      headers: { Accept: 'application/json' },
      body: new FormData(event.currentTarget),
    })
    const answer = await response.json()
    setState({ sent: answer.ok === true, errors: answer.errors ?? (answer.error ? { form: answer.error } : {}) })
  }

  if (state.sent) return <p role="status">{${toScriptString(form.successMessage ?? 'Thank you!')}}</p>
  return (
    <form onSubmit={send}>
${writeFields(form, '      ', toJsx)}
      <button>Send</button>
      {Object.entries(state.errors).map(([field, message]) => (
        <p key={field} role="alert">{message}</p>
      ))}
    </form>
  )
}`
