// Shows messages about a form: a text below each wrong field, or one line at the end of the form. Messages are text, never
// markup, and have no styles: the page can style the classes towpath-error and towpath-success.

import { formPrototype } from './endpoints.ts'
import { KNOWN_MESSAGES } from './known-messages.ts'

export type FormErrors = [name: string, message: string][]
type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

const CAPTCHA_FIELD = 'cf-turnstile-response'
const MESSAGE_MAX = 300

/** Stands for a message of another version of the server. */
const OTHER_MESSAGE = 'Please check this field'
export const FAILED = 'This could not be sent. Please try again.'

let noteCount = 0

export const listControls = (form: HTMLFormElement) =>
  [...document.querySelectorAll<Control>('input,select,textarea')].filter(
    (control) => control.form === form && control.type !== 'hidden',
  )

export function createMessages(form: HTMLFormElement) {
  const line = document.createElement('p')
  let undo: (() => void)[] = []

  function addNote(controls: Control[], message: string) {
    const text = document.createElement('span')
    text.id = `towpath-error-${++noteCount}`
    text.className = 'towpath-error'
    text.textContent = message
    const last = controls[controls.length - 1] as Control
    // Inside a label, the text would become part of the field's name.
    ;(last.closest('label') ?? last).after(text)
    undo.push(() => text.remove())
    for (const control of controls) {
      const before = control.getAttribute('aria-describedby')
      control.setAttribute('aria-invalid', 'true')
      control.setAttribute('aria-describedby', before ? `${before} ${text.id}` : text.id)
      undo.push(() => {
        control.removeAttribute('aria-invalid')
        if (before) control.setAttribute('aria-describedby', before)
        else control.removeAttribute('aria-describedby')
      })
    }
  }

  function show(text: string, role: string, name: string) {
    line.className = name
    line.setAttribute('role', role)
    line.textContent = text
    formPrototype.append.call(form, line)
  }

  const fail = (errors: FormErrors, text = '') => {
    const controls = listControls(form)
    const rest: string[] = text ? [text] : []
    for (const [name, fullMessage] of errors) {
      const message = String(fullMessage).slice(0, MESSAGE_MAX)
      const fields = controls.filter((control) => control.name === name)
      if (fields.length > 0) addNote(fields, message)
      else rest.push(name === CAPTCHA_FIELD ? message : `${name.slice(0, MESSAGE_MAX)}: ${message}`)
    }
    if (rest.length > 0) show(rest.join(' '), 'alert', 'towpath-error')
    controls.find((control) => errors.some(([name]) => control.name === name))?.focus()
  }

  return {
    clear() {
      for (const step of undo) step()
      undo = []
      line.textContent = ''
    },
    /** Adds the empty line before its text: screen readers announce a change of a line that was there before. */
    prepare: () => show('', 'status', 'towpath-success'),
    succeed: (text: string) => show(text, 'status', 'towpath-success'),
    fail,
    /** Shows errors of the page's address: names of this form, known messages, and else a text of our own. */
    failFromAddress(errors: FormErrors) {
      const names = new Set(listControls(form).map(({ name }) => name)).add(CAPTCHA_FIELD)
      const own = errors.filter(([name]) => names.has(name))
      fail(
        own.map(([name, text]) => [name, KNOWN_MESSAGES.includes(text) ? text : OTHER_MESSAGE]),
        own.length < errors.length ? FAILED : '',
      )
    },
  }
}

export type FormMessages = ReturnType<typeof createMessages>

/** Reads the errors after a submission by the browser, and removes them from the page's address. */
export function takeErrors(): FormErrors {
  const parts = location.search.slice(1).split('&')
  const kept = parts.filter((part) => !/^_errors=/.test(part))
  if (kept.length === parts.length) return []
  try {
    const url = new URL(location.href)
    const text = url.searchParams.get('_errors')
    url.search = kept.join('&')
    history.replaceState(history.state, '', url.href)
    const errors: unknown = JSON.parse(text ?? '')
    return errors && typeof errors === 'object' && !Array.isArray(errors)
      ? Object.entries(errors as Record<string, string>).slice(0, 50)
      : []
  } catch {
    // Anybody can write an address: a text that is no list of errors is ignored.
    return []
  }
}
