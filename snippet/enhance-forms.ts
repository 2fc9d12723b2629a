// Enhances forms: those in the loaded page, and those that a script registers later.

import { findEndpoint, formPrototype } from './endpoints.ts'
import { type FormInfo, fetchFormInfo } from './form-info.ts'
import { createMessages, type FormErrors, findWrongControl } from './messages.ts'
import type { Site } from './site.ts'
import {
  addHiddenFields,
  allowResend,
  type EnhancedForm,
  startCaptcha,
  submitForm,
  tellCaptcha,
} from './submission.ts'
import type { PageVisit } from './visit.ts'

/** @param errors of the page's address: they are shown at the first forms */
export function createEnhancer(site: Site, visit: PageVisit, errors: FormErrors) {
  const forms = new Map<HTMLFormElement, EnhancedForm>()
  listen(site, forms, visit)

  function enhanceForms(elements: HTMLFormElement[]) {
    const added: EnhancedForm[] = []
    for (const form of elements) {
      const key = findEndpoint(site, form)?.key
      if (!key || forms.has(form)) continue
      const enhanced = { site, form, key, messages: createMessages(form) }
      forms.set(form, enhanced)
      added.push(enhanced)
    }
    const first = added.find(({ form }) => findWrongControl(form, errors)) ?? added[0]
    if (!first) return
    // Until the form info is here, and when it cannot be loaded, the browser sends the form.
    fetchFormInfo(site.intakeUrl, [...new Set(added.map(({ key }) => key))])
      .catch((): Record<string, FormInfo | undefined> => ({}))
      .then((infos) => {
        for (const enhanced of added) {
          const { form, key } = enhanced
          enhanced.facts = infos[key]
          if (forms.get(form) !== enhanced) continue
          if (enhanced.facts) void startCaptcha(enhanced)
          else forms.delete(form)
        }
        first.messages.failFromAddress(errors, first.facts)
        errors = []
      })
      .catch(() => {})
  }

  return {
    enhanceForms,
    /** @returns a function that detaches the form, and removes what was added to it */
    enhance(form: HTMLFormElement) {
      enhanceForms([form])
      const enhanced = forms.get(form)
      return () => {
        if (!enhanced || forms.get(form) !== enhanced) return
        forms.delete(form)
        enhanced.messages.remove()
        tellCaptcha(enhanced, 'remove')
      }
    },
  }
}

/** Listens on the window, after every listener of the page: the page can prevent a submission. */
function listen(site: Site, forms: Map<HTMLFormElement, EnhancedForm>, visit: PageVisit) {
  let toOtherAddress: boolean | undefined
  addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    const { submitter } = event
    const enhanced = forms.get(form)
    const endpoint = findEndpoint(site, form)
    toOtherAddress = submitter?.hasAttribute('formaction')
    // The browser fires 'formdata' for this submission in this turn of the event loop.
    setTimeout(() => {
      toOtherAddress = false
    })
    if (!enhanced?.facts || !endpoint || event.defaultPrevented || needsBrowser(form, submitter)) return
    event.preventDefault()
    if (!enhanced.busy)
      submitForm(enhanced, endpoint.url, submitter, visit).catch(() => allowResend(enhanced))
  })
  // Fires for each submission, also when the browser sends the form.
  addEventListener('formdata', ({ target, formData }) => {
    const form = target as HTMLFormElement
    const enhanced = forms.get(form)
    if (!toOtherAddress && (enhanced?.facts || findEndpoint(site, form)?.isSure))
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
