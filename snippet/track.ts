// The snippet, /t.js: reports page views and submits the forms of a page. It must never disturb the page: no error leaves
// it, and every form works without it.

import { enhanceForms } from './enhance-forms.ts'
import { takeErrors } from './messages.ts'
import { trackVisit } from './visit.ts'

function start() {
  // A second tag on the same page does nothing.
  if (window.__towpath) return
  window.__towpath = {}
  // First, so that the reported address of the page has no errors in it.
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
  // An unknown browser, or a page that changes built-in functions: the browser submits its forms.
}
