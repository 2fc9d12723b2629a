// Enhances the forms that are on the page when it has loaded. The browser sends forms that the page adds later.

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

  const elements = [...document.querySelectorAll('form')].filter(findEndpoint)
  if (elements.length === 0) return
  const messagesOf = new Map(elements.map((form) => [form, createMessages(form)]))
  if (errors.length > 0) {
    const hasField = (form: HTMLFormElement) =>
      listControls(form).some((control) => errors.some(([name]) => name === control.name))
    messagesOf.get(elements.find(hasField) ?? (elements[0] as HTMLFormElement))?.failFromAddress(errors)
  }

  // Until the form info is here, and when it cannot be loaded, the browser sends the form.
  const infos = await fetchFormInfo([...new Set(elements.map((form) => findEndpoint(form)?.key ?? ''))])
  for (const [form, messages] of messagesOf) {
    const key = findEndpoint(form)?.key ?? ''
    const facts = infos[key]
    if (!facts) continue
    const enhanced: EnhancedForm = { form, key, facts, messages }
    forms.set(form, enhanced)
    void startCaptcha(enhanced)
  }
}

/** Listens on the window, after every listener of the page: the page can prevent a submission. */
function listen(forms: Map<HTMLFormElement, EnhancedForm>, visit: PageVisit) {
  let toOtherAddress = false
  addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    const { submitter } = event
    const enhanced = forms.get(form)
    const endpoint = findEndpoint(form)
    toOtherAddress = Boolean(submitter?.hasAttribute('formaction'))
    // The browser fires 'formdata' for this submission in this turn of the event loop.
    setTimeout(() => {
      toOtherAddress = false
    })
    if (!enhanced || !endpoint || event.defaultPrevented || needsBrowser(form, submitter)) return
    event.preventDefault()
    if (!enhanced.busy)
      submitForm(enhanced, endpoint.url, submitter, visit).catch(() => allowResend(enhanced))
  })
  // Fires for each submission, also when the browser sends the form.
  addEventListener('formdata', ({ target, formData }) => {
    const form = target as HTMLFormElement
    const enhanced = forms.get(form)
    if (!toOtherAddress && (enhanced || findEndpoint(form)?.isSure))
      addHiddenFields(formData, visit, enhanced)
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    for (const enhanced of forms.values()) {
      enhanced.native = false
      enhanced.messages.clear()
      allowResend(enhanced)
    }
  })
}

/** The form shows its answer in another window, or the button sends to another address. */
const needsBrowser = (form: HTMLFormElement, submitter: HTMLElement | null) =>
  !/^(_self)?$/i.test(formPrototype.getAttribute.call(form, 'target') ?? '') ||
  ['formaction', 'formmethod', 'formtarget'].some((name) => submitter?.hasAttribute(name))
