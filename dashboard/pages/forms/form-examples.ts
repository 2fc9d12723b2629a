// Code to copy: a form as HTML, with fetch, and in React, with its real endpoint and the fields that its settings name.

import { HONEYPOT_HTML, toFieldLabel } from '../../../server/features/forms/markup.ts'
import type { FormResource } from '../../../server/features/forms/schema.ts'

export type ExampleForm = Pick<FormResource, 'endpoint' | 'requiredFields' | 'captcha' | 'successMessage'> &
  Partial<Pick<FormResource, 'rules' | 'uploads' | 'consent' | 'messages'>>
type FieldSettings = Pick<ExampleForm, 'requiredFields' | 'rules' | 'consent'>

const USUAL_FIELDS = ['name', 'email', 'message']
/** The name of the file input, where no setting of the form names one. */
export const FILE_FIELD = 'file'

/** Name, email and message, and the fields that the settings name, but for the consent. */
export const listFieldNames = ({ requiredFields, rules, consent }: FieldSettings) =>
  [...new Set([...USUAL_FIELDS, ...requiredFields, ...Object.keys(rules ?? {})])].filter(
    (name) => name !== consent?.field,
  )

const escapeHtml = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('{', '&#123;')
    .replaceAll('}', '&#125;')

export const isLongText = (name: string) => /message|comment|question|description|text$/i.test(name)

/** The type of a field's input: what its rule says, else what its name says. */
export const toInputType = (name: string, rules: FormResource['rules'] = {}): string =>
  (Object.hasOwn(rules, name) ? rules[name]?.type : undefined) ??
  (name.toLowerCase() === 'email' ? 'email' : 'text')

/** Browsers have a syntax of their own, and ignore a pattern that they cannot read, with an error in the console. */
function isBrowserPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, 'v')
    return true
  } catch {
    return false
  }
}

function writeControl(name: string, form: ExampleForm): string {
  const rule = form.rules && Object.hasOwn(form.rules, name) ? form.rules[name] : undefined
  const type = toInputType(name, form.rules)
  const isLong = isLongText(name) && type === 'text' && !rule?.pattern
  const attributes = [
    type !== 'text' && !isLong && `type="${type}"`,
    `name="${escapeHtml(name)}"`,
    rule?.minLength !== undefined && `minlength="${rule.minLength}"`,
    rule?.maxLength !== undefined && `maxlength="${rule.maxLength}"`,
    rule?.pattern && isBrowserPattern(rule.pattern) && `pattern="${escapeHtml(rule.pattern)}"`,
    form.requiredFields.includes(name) && 'required',
  ]
    .filter(Boolean)
    .join(' ')
  if (rule?.oneOf) {
    const required = form.requiredFields.includes(name) ? ' required' : ''
    const options = rule.oneOf.map((choice) => `<option>${escapeHtml(choice)}</option>`)
    return `<select name="${escapeHtml(name)}"${required}><option value="">Choose</option>${options.join('')}</select>`
  }
  return isLong ? `<textarea ${attributes}></textarea>` : `<input ${attributes}>`
}

function writeFileInput({ accept, maxFiles }: NonNullable<ExampleForm['uploads']>): string {
  const types = accept.length > 0 ? ` accept="${escapeHtml(accept.join(','))}"` : ''
  const input = `<input type="file" name="${FILE_FIELD}"${types}${maxFiles > 1 ? ' multiple' : ''}>`
  return `<label>${maxFiles > 1 ? 'Files' : 'File'} ${input}</label>`
}

function writeConsent({ consent, requiredFields }: ExampleForm & Pick<Required<ExampleForm>, 'consent'>) {
  if (!consent) return []
  const required = requiredFields.includes(consent.field) ? ' required' : ''
  const input = `<input type="checkbox" name="${escapeHtml(consent.field)}" value="yes"${required}>`
  return [`<label>${input} ${escapeHtml(consent.text)}</label>`]
}

/** The language of the messages, where the form has texts of its own: else the browser's language decides. */
function writeLanguage(messages: FormResource['messages'] = {}): string[] {
  const [locale] = Object.keys(messages)
  return locale ? [`<input type="hidden" name="_lang" value="${escapeHtml(locale)}">`] : []
}

/** The fields, and the honeypot: only bots fill it in, and the server drops those submissions. */
function writeFields(form: ExampleForm, indent: string, close: (html: string) => string = (html) => html) {
  const fields = listFieldNames(form).map(
    (name) => `<label>${escapeHtml(toFieldLabel(name))} ${writeControl(name, form)}</label>`,
  )
  const files = form.uploads ? [writeFileInput(form.uploads)] : []
  const consent = writeConsent({ ...form, consent: form.consent ?? null })
  return [...fields, ...files, ...consent, ...writeLanguage(form.messages), HONEYPOT_HTML]
    .map((html) => indent + close(html))
    .join('\n')
}

/** Without the encoding, browsers send the names of files only. */
const writeEncoding = ({ uploads }: ExampleForm) => (uploads ? ' enctype="multipart/form-data"' : '')

export const htmlExample = (
  form: ExampleForm,
) => `<form action="${escapeHtml(form.endpoint)}" method="post"${writeEncoding(form)}>
${writeFields(form, '  ')}
  <button>Send</button>
</form>`

/** Shown where no answer came, or one that is none of the form endpoint: people must not believe that it was sent. */
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
