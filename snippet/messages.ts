// What a visitor is told about a form: a word below each field that is wrong, or one line at the end of the form. As
// text, never as markup, and without styles: the classes towpath-error and towpath-success are the page's to style.

import { formPrototype } from './endpoints.ts'

export type FormErrors = [name: string, message: string][]
type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

const CAPTCHA_FIELD = 'cf-turnstile-response'
/** What stands in `_errors` can be anybody's text. */
const MESSAGE_MAX = 300

let notes = 0

export const listControls = (form: HTMLFormElement) =>
  [...document.querySelectorAll<Control>('input,select,textarea')].filter(
    (control) => control.form === form && control.type !== 'hidden',
  )

export function createMessages(form: HTMLFormElement) {
  const line = document.createElement('p')
  let undo: (() => void)[] = []

  function note(controls: Control[], message: string) {
    const text = document.createElement('span')
    text.id = `towpath-error-${++notes}`
    text.className = 'towpath-error'
    text.textContent = message
    const last = controls[controls.length - 1] as Control
    // Inside of a label it would become part of the field's name.
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

  function say(text: string, role: string, name: string) {
    line.className = name
    line.setAttribute('role', role)
    line.textContent = text
    formPrototype.append.call(form, line)
  }

  return {
    clear() {
      for (const step of undo) step()
      undo = []
      line.textContent = ''
    },
    /** Puts the line there before it speaks: only then do screen readers read it out. */
    prepare: () => say('', 'status', 'towpath-success'),
    succeed: (text: string) => say(text, 'status', 'towpath-success'),
    fail(errors: FormErrors, text = '') {
      const controls = listControls(form)
      const rest: string[] = text ? [text] : []
      for (const [name, full] of errors) {
        const message = String(full).slice(0, MESSAGE_MAX)
        const named = controls.filter((control) => control.name === name)
        if (named.length > 0) note(named, message)
        else rest.push(name === CAPTCHA_FIELD ? message : `${name.slice(0, MESSAGE_MAX)}: ${message}`)
      }
      if (rest.length > 0) say(rest.join(' '), 'alert', 'towpath-error')
      controls.find((control) => errors.some(([name]) => control.name === name))?.focus()
    },
  }
}

export type FormMessages = ReturnType<typeof createMessages>

/** The errors that a native submission came back with, taken out of the page's address. */
export function takeErrors(): FormErrors {
  const parts = location.search.slice(1).split('&')
  const kept = parts.filter((part) => !/^_errors=/.test(part))
  if (kept.length === parts.length) return []
  try {
    const url = new URL(location.href)
    const found = url.searchParams.get('_errors')
    url.search = kept.join('&')
    history.replaceState(history.state, '', url.href)
    const errors: unknown = JSON.parse(found ?? '')
    return errors && typeof errors === 'object' && !Array.isArray(errors)
      ? Object.entries(errors as Record<string, string>).slice(0, 50)
      : []
  } catch {
    // Anybody can write an address; what is no list of errors is nothing to show.
    return []
  }
}
