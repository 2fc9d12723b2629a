// The forms that are on the page when it has loaded, and what happens to them. A form that comes later is the
// browser's to send.

import { controlsOf, type Errors, openMessages } from './messages.ts'
import { endpointOf, proto } from './place.ts'
import { askFacts, captchaOf, complete, type Enhanced, release, send } from './submission.ts'
import type { Visit } from './visit.ts'

export async function enhanceForms(visit: Visit, errors: Errors) {
  const forms = new Map<HTMLFormElement, Enhanced>()
  listen(forms, visit)

  const found = [...document.querySelectorAll('form')].filter(endpointOf)
  if (found.length === 0) return
  const messages = new Map(found.map((form) => [form, openMessages(form)]))
  if (errors.length > 0) {
    const isOf = (form: HTMLFormElement) =>
      controlsOf(form).some((control) => errors.some(([name]) => name === control.name))
    messages.get(found.find(isOf) ?? (found[0] as HTMLFormElement))?.fail(errors)
  }

  // Until its facts are here, and where they do not come, a form is the browser's alone.
  const facts = await askFacts([...new Set(found.map((form) => endpointOf(form)?.key ?? ''))])
  for (const [form, told] of messages) {
    const key = endpointOf(form)?.key ?? ''
    const known = facts[key]
    if (!known) continue
    const it: Enhanced = { form, key, facts: known, messages: told }
    forms.set(form, it)
    void captchaOf(it)
  }
}

/** On the window, behind every listener of the page's own: what they prevent is theirs. */
function listen(forms: Map<HTMLFormElement, Enhanced>, visit: Visit) {
  let elsewhere = false
  addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    const { submitter } = event
    const it = forms.get(form)
    const endpoint = endpointOf(form)
    elsewhere = Boolean(submitter?.hasAttribute('formaction'))
    // Its form data is made in this same turn.
    setTimeout(() => {
      elsewhere = false
    })
    if (!it || !endpoint || event.defaultPrevented || leadsAway(form, submitter)) return
    event.preventDefault()
    if (!it.busy) send(it, endpoint.url, submitter, visit).catch(() => release(it))
  })
  // Asked for each submission, the browser's own too.
  addEventListener('formdata', ({ target, formData }) => {
    const form = target as HTMLFormElement
    if (!elsewhere && endpointOf(form)) complete(formData, visit, forms.get(form))
  })
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    for (const it of forms.values()) {
      it.native = false
      it.messages.clear()
      release(it)
    }
  })
}

/** The page wants to see the answer elsewhere, or this button sends to another place. */
const leadsAway = (form: HTMLFormElement, submitter: HTMLElement | null) =>
  !/^(_self)?$/i.test(proto.getAttribute.call(form, 'target') ?? '') ||
  ['formaction', 'formmethod', 'formtarget'].some((name) => submitter?.hasAttribute(name))
