// Shows messages about a form: a text below each wrong field, or one line at the end of the form. Messages are text, never
// markup, and have no styles: the page can style the classes towpath-error and towpath-success.

import { formPrototype } from './endpoints.ts'
import type { FormInfo } from './form-info.ts'

export type FormErrors = [name: string, message: string][]
type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

export const CAPTCHA_FIELD = 'cf-turnstile-response'

/** The default texts until the server has described the form in the page's language. */
export const FAILED = 'This could not be sent. Please try again.'

let noteCount = 0

const listControls = (form: HTMLFormElement) =>
  [...document.querySelectorAll<Control>('input,select,textarea')].filter(
    (control) => control.form === form && control.type !== 'hidden',
  )

export const findWrongControl = (form: HTMLFormElement, errors: FormErrors) =>
  listControls(form).find((control) => errors.some(([name]) => control.name === name))

/** Shows a message after the last of several controls. @returns a function that removes it */
function addNote(controls: Control[], message: string): () => void {
  const text = document.createElement('span')
  text.id = `towpath-error-${++noteCount}`
  text.className = 'towpath-error'
  text.textContent = message
  const last = controls[controls.length - 1] as Control
  // Inside a label, the text would become part of the field's name.
  ;(last.closest('label') ?? last).after(text)
  const undo = controls.map((control) => {
    const before = control.getAttribute('aria-describedby')
    control.setAttribute('aria-invalid', 'true')
    control.setAttribute('aria-describedby', before ? `${before} ${text.id}` : text.id)
    return () => {
      control.removeAttribute('aria-invalid')
      if (before) control.setAttribute('aria-describedby', before)
      else control.removeAttribute('aria-describedby')
    }
  })
  return () => {
    text.remove()
    for (const step of undo) step()
  }
}

export function createMessages(form: HTMLFormElement) {
  const line = document.createElement('p')
  let undo: (() => void)[] = []

  function show(text: string, role: string, name: string) {
    line.className = name
    line.setAttribute('role', role)
    line.textContent = text
    formPrototype.append.call(form, line)
  }

  const fail = (errors: FormErrors, text = '') => {
    const controls = listControls(form)
    const rest: string[] = text ? [text] : []
    for (const [name, message] of errors) {
      const fields = controls.filter((control) => control.name === name)
      if (fields[0]) undo.push(addNote(fields, message))
      else rest.push(name === CAPTCHA_FIELD ? message : `${name}: ${message}`)
    }
    if (rest.length > 0) show(rest.join(' '), 'alert', 'towpath-error')
    findWrongControl(form, errors)?.focus()
  }

  function clear() {
    for (const step of undo) step()
    undo = []
    line.textContent = ''
  }

  return {
    clear,
    remove() {
      clear()
      line.remove()
    },
    /** Adds the empty line before its text: screen readers announce a change of a line that was there before. */
    prepare(text = '') {
      clear()
      show(text, 'status', 'towpath-status')
    },
    succeed: (text: string) => show(text, 'status', 'towpath-success'),
    fail,
    /**
     * Shows errors of the page's address: names of this form, messages of this form, and else a text of our own. Anybody
     * can write a text into an address, such as "Your account is locked, call …".
     */
    failFromAddress(errors: FormErrors, { messages, texts }: Partial<FormInfo> = {}) {
      const names = [CAPTCHA_FIELD, ...listControls(form).map(({ name }) => name)]
      const own = errors.filter(([name]) => names.includes(name))
      const failed = texts?.failed || FAILED
      fail(
        own.map(([name, text]) => [name, messages?.includes(text) ? text : texts?.check || failed]),
        own.length < errors.length ? failed : '',
      )
    },
  }
}

export type FormMessages = ReturnType<typeof createMessages>

/** Reads the errors after a submission by the browser, and removes them from the page's address. */
export function takeErrors(): FormErrors {
  const url = new URL(location.href)
  const text = url.searchParams.get('_errors')
  if (text === null) return []
  try {
    const parts = url.search.slice(1).split('&')
    url.search = parts.filter((part) => !part.startsWith('_errors=')).join('&')
    history.replaceState(history.state, '', url)
    const errors: Record<string, string> | null = JSON.parse(text)
    return Array.isArray(errors) ? [] : Object.entries(errors ?? {}).slice(0, 50)
  } catch {
    // Anybody can write an address: a text that is no list of errors is ignored.
    return []
  }
}
