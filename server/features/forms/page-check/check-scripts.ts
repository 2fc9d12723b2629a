// Checks the page's scripts that send its form: scripts that expect another answer format, and requests with answers
// that browsers withhold.

import { type Findings, formatElement, foundWarning } from './finding.ts'
import type { PageForm, ParsedPage } from './parse-page.ts'

const CREDENTIALS = /credentials['"]?\s*:\s*['"`]include['"`]|withCredentials['"]?\s*[:=]\s*true/

export function* checkScripts(
  { scripts }: ParsedPage,
  forms: PageForm[],
  { html, endpoint }: { html: string; endpoint: URL },
): Findings {
  const hasSource = (name: RegExp) => scripts.some((attributes) => name.test(attributes.get('src') ?? ''))
  const actions = forms.map(({ attributes }) => attributes.get('action') ?? '')
  const lacks = (shape: string) =>
    actions.length === 0 || actions.some((action) => !action.includes(`answer=${shape}`))
  const toFix = (shape: string) =>
    `Write the form's action as ${formatElement('form', { action: `${endpoint.href}?answer=${shape}`, method: 'post' })}`
  const isBootstrapMade = forms.some(({ attributes }) =>
    /(^|\s)php-email-form(\s|$)/.test(attributes.get('class') ?? ''),
  )
  if ((isBootstrapMade || hasSource(/php-email-form/i)) && lacks('text')) {
    const message =
      'The script php-email-form of BootstrapMade expects the text "OK" and shows every other answer as an error, even a success.'
    yield foundWarning('script_expects_text', message, toFix('text'))
  }
  if (hasSource(/formspree/i) && lacks('formspree')) {
    const message =
      "The page has Formspree's script, which expects Formspree's answers: it would show a success as an error."
    yield foundWarning('script_expects_formspree', message, toFix('formspree'))
  }
  if (CREDENTIALS.test(html)) {
    const message =
      "A script of the page sends its requests with cookies. Browsers then withhold the endpoint's answer, because the endpoint answers every site."
    const fix = "Leave out credentials: 'include' (or withCredentials) where the script sends the form."
    yield foundWarning('credentials_included', message, fix)
  }
}
