// The page check: reads a page and finds what will go wrong with a form on it, before a lead is lost. It fetches
// nothing.

import { nextTurn } from '../../../lib/concurrency/next-turn.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { isOriginAllowed } from '../settings/allowed-origins.ts'
import {
  checkFormSubmission,
  chooseEndpoint,
  findMatchingForms,
  type MatchedForm,
  resolveUrl,
} from './check-action.ts'
import { checkControls } from './check-controls.ts'
import { checkContentPolicy, checkEncoding, checkNextHosts, checkSnippet } from './check-policies.ts'
import { checkReturn } from './check-return.ts'
import { checkScripts } from './check-scripts.ts'
import {
  type Finding,
  type Findings,
  formatElement,
  foundError,
  foundWarning,
  sortFindings,
} from './finding.ts'
import { listFieldLabels } from './list-field-labels.ts'
import { type CheckedForm, type CheckedPage, parsePage } from './parse-page.ts'

export interface PageCheckInput {
  form: CheckedForm
  /** `https://go.example` */
  origin: string
  /** Origins of the workspace's domains, such as `https://go.brand.example`: its forms answer there, too. */
  domainOrigins?: string[]
  /** The workspace's public id, for the line that loads the snippet. */
  publicId: string
  turnstile: boolean
  html: string
  /** The page's address; null where only its text is known. */
  pageUrl: string | null
  /** The page's response headers; undefined where only its text is known. */
  headers?: Headers
}

// Only the first copies of a form on a page are checked.
const FORMS_MAX = 5

export interface PageCheckResult {
  /** Errors first. Without a finding of severity `error`, a submission arrives. */
  findings: Finding[]
  /** A form of the page posts to the endpoint. */
  hasForm: boolean
  /** The page's names for the fields of that form. */
  labels: Record<string, string>
}

export async function checkPage(check: PageCheckInput): Promise<PageCheckResult> {
  const { form, html, headers = new Headers() } = check
  const parsedPage = await parsePage(html)
  const page = check.pageUrl === null ? null : parseUrl(check.pageUrl)
  const base = parsedPage.baseHref === undefined ? page : (resolveUrl(parsedPage.baseHref, page) ?? page)
  // Most pages name one domain only.
  const named = (check.domainOrigins ?? []).filter((origin) => html.includes(new URL(origin).hostname))
  const endpoints = [check.origin, ...named].map((origin) => new URL(`/f/${form.formKey}`, origin))
  const endpoint = chooseEndpoint(parsedPage, endpoints, base)
  const addresses = { endpoint, base, page }
  const { publicId, turnstile } = check
  const checked = { form, parsedPage, headers, ...addresses, endpoints, publicId, turnstile }
  const matchedForms = findMatchingForms(parsedPage, addresses).slice(0, FORMS_MAX)
  const found = [...checkPresence(checked, matchedForms)]
  for (const matched of matchedForms) {
    // Thousands of controls and a hundred required fields take some milliseconds.
    await nextTurn()
    const findings = [
      ...matched.findings,
      ...checkFormSubmission(matched, addresses),
      ...checkControls(matched, form),
      ...checkNextHosts(checked, matched),
      ...checkReturn(checked, matched),
      ...checkEncoding(checked, matched, check.headers !== undefined),
    ]
    found.push(...addFormPosition(matched, parsedPage.forms.length, findings))
  }
  const findings = sortFindings([
    ...found,
    ...checkScripts(parsedPage, matchedForms, { html, endpoint }),
    ...checkSnippet(checked),
    ...checkContentPolicy(checked, matchedForms),
  ])
  const own = matchedForms.filter((matched) => matched.findings.length === 0)
  // The first copy of a form on the page decides.
  const labels = own.toReversed().flatMap((form) => [...listFieldLabels(form, parsedPage.labels)])
  return { findings, hasForm: own.length > 0, labels: Object.fromEntries(labels) }
}

/** On a page with several forms, each message names the position of its form. */
const addFormPosition = ({ position }: MatchedForm, forms: number, findings: Finding[]): Finding[] =>
  forms < 2
    ? findings
    : findings.map((finding) => ({
        ...finding,
        message: `Form ${position} of the page: ${finding.message}`,
      }))

function* checkPresence({ form, page, parsedPage, endpoint }: CheckedPage, matched: MatchedForm[]): Findings {
  const { enabled, allowedOrigins } = form
  if (!enabled) {
    const message = 'The form is turned off: every submission is refused (403).'
    yield foundError('form_disabled', message, 'Set enabled to true.')
  }
  if (page && !isOriginAllowed(allowedOrigins, new Headers({ origin: page.origin }))) {
    const message = `The form accepts submissions only from certain origins, and ${page.origin} is not one of them (403).`
    yield foundError('origin_not_allowed', message, `Add ${page.origin} to allowedOrigins.`)
  }
  if (parsedPage.cut) {
    const message = 'The page has too many forms, fields, scripts or meta elements: some are not checked.'
    yield foundWarning('page_large', message, 'Send only the part with the form, as html.')
  }
  if (matched.length > 0) return
  const forms = parsedPage.forms.length
  const situation =
    forms === 0 ? 'There is no form on the page' : `None of the ${forms} form(s) on the page is this form`
  const message = `${situation}: nothing is sent to ${endpoint.href}. Neither this check nor the tracking snippet sees a form that a script adds later.`
  const line = formatElement('form', { action: endpoint.href, method: 'post' })
  yield foundError('form_missing', message, `Write the form into the page's own HTML, beginning with ${line}`)
}
