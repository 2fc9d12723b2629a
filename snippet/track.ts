// The snippet, /t.js: records that a page is seen, and takes care of the forms on it. It must never be felt by the page
// it is on: no error leaves it, and without it every form still works.

import { enhanceForms } from './enhance-forms.ts'
import { takeErrors } from './messages.ts'
import { trackVisit } from './visit.ts'

function start() {
  // The same tag twice on a page is one.
  if (window.__towpath) return
  window.__towpath = {}
  // First, so that what went wrong on this page is not part of its address.
  const errors = takeErrors()
  const visit = trackVisit()
  const enhance = () => {
    enhanceForms(visit, errors).catch(() => {})
  }
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', enhance)
  else enhance()
}

try {
  start()
} catch {
  // A browser, or a page, that is stranger than we thought. Its forms are sent without us.
}
