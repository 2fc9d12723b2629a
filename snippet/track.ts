// The snippet, /t.js: reports page views and submits the forms of a page. It must never disturb the page: it throws
// no errors, and every form works without it.

import { createEnhancer } from './enhance-forms.ts'
import { takeErrors } from './messages.ts'
import { createScriptSite, type TowpathGlobal } from './script-site.ts'
import { createVisit } from './visit.ts'

function start() {
  const before = window.towpath
  // A second tag on the same page does nothing.
  if ((before as TowpathGlobal | undefined)?.enhance) return
  const site = createScriptSite()
  // First, so that the reported address of the page has no errors in it.
  const errors = takeErrors()
  const visit = createVisit(site)
  visit.report()
  const { enhanceForms, enhance } = createEnhancer(site, visit, errors)
  window.towpath = { enhance, push: enhance }
  const onReady = () =>
    // Where the page has an element with this id, `before` is that element.
    enhanceForms(
      [...document.querySelectorAll('form')].concat((before as HTMLFormElement[] | undefined) ?? []),
    )
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', onReady)
  else onReady()
}

try {
  start()
} catch {
  // An unknown browser, or a page that changes built-in functions: the browser submits its forms.
}
