// The forms that are on the page when it has loaded, and what happens to them. A form that comes later is the
// browser's to send.

import { findEndpoint, formPrototype } from './endpoints.ts'
import { createMessages, type FormErrors, listControls } from './messages.ts'
import {
  addHiddenFields,
  allowResend,
  type EnhancedForm,
  fetchFormInfo,
  startCaptcha,
  submitForm,
} from './submission.ts'
import type { PageVisit } from './visit.ts'

export async function enhanceForms(visit: PageVisit, errors: FormErrors) {
  const forms = new Map<HTMLFormElement, EnhancedForm>()
  listen(forms, visit)

  const found = [...document.querySelectorAll('form')].filter(findEndpoint)
  if (found.length === 0) return
  const messages = new Map(found.map((form) => [form, createMessages(form)]))
  if (errors.length > 0) {
    const isOf = (form: HTMLFormElement) =>
      listControls(form).some((control) => errors.some(([name]) => name === control.name))
    messages.get(found.find(isOf) ?? (found[0] as HTMLFormElement))?.fail(errors)
  }

  // Until its facts are here, and where they do not come, a form is the browser's alone.
  const facts = await fetchFormInfo([...new Set(found.map((form) => findEndpoint(form)?.key ?? ''))])
  for (const [form, told] of messages) {
    const key = findEndpoint(form)?.key ?? ''
    const known = facts[key]
    if (!known) continue
    const it: EnhancedForm = { form, key, facts: known, messages: told }
    forms.set(form, it)
    void startCaptcha(it)
  }
}

/** On the window, behind every listener of the page's own: what they prevent is theirs. */
function listen(forms: Map<HTMLFormElement, EnhancedForm>, visit: PageVisit) {
  let elsewhere = false
  addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    const { submitter } = event
    const it = forms.get(form)
    const endpoint = findEndpoint(form)
    elsewhere = Boolean(submitter?.hasAttribute('formaction'))
    // Its form data is made in this same turn.
    setTimeout(() => {
      elsewhere = false
    })
    if (!it || !endpoint || event.defaultPrevented || leadsAway(form, submitter)) return
    event.preventDefault()
    if (!it.busy) submitForm(it, endpoint.url, submitter, visit).catch(() => allowResend(it))
  })
  // Asked for each submission, the browser's own too.
  addEventListener('formdata', ({ target, formData }) => {
    const form = target as HTMLFormElement
    if (!elsewhere && findEndpoint(form)) addHiddenFields(formData, visit, forms.get(form))
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    for (const it of forms.values()) {
      it.native = false
      it.messages.clear()
      allowResend(it)
    }
  })
}

/** The page wants to see the answer elsewhere, or this button sends to another place. */
const leadsAway = (form: HTMLFormElement, submitter: HTMLElement | null) =>
  !/^(_self)?$/i.test(formPrototype.getAttribute.call(form, 'target') ?? '') ||
  ['formaction', 'formmethod', 'formtarget'].some((name) => submitter?.hasAttribute(name))
