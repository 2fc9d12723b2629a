// The form doctor: reads a page and says what will go wrong with a form on it, before a lead is lost to it. Pure.

import type { FormResource } from '../schema.ts'
import { isOriginAllowed } from '../settings/allowed-origins.ts'
import { checkFormSubmission, findMatchingForms, type MatchedForm, resolveUrl } from './check-action.ts'
import { checkControls } from './check-controls.ts'
import {
  checkContentPolicy,
  checkEncoding,
  checkReferrer,
  checkSnippet,
  type PolicyCheckInput,
} from './check-policies.ts'
import { createFinding, type Finding, formatElement, sortFindings } from './finding.ts'
import { parsePage } from './parse-page.ts'

export type CheckedForm = Pick<
  FormResource,
  'formKey' | 'enabled' | 'requiredFields' | 'redirectUrl' | 'captcha' | 'allowedOrigins'
>

export interface PageCheckInput {
  form: CheckedForm
  /** `https://go.example` */
  origin: string
  /** The workspace's, for the snippet's line. */
  publicId: string
  turnstile: boolean
  html: string
  /** Where the page is; null where only its text is known. */
  pageUrl: string | null
  /** With which it was answered; undefined where only its text is known. */
  headers?: Headers
}

// A page with more copies of one form than this has other worries.
const FORMS_MAX = 5

/** Errors first. No finding of severity `error` means that a submission arrives. */
export function checkPage(asked: PageCheckInput): Finding[] {
  const { form, html, headers = new Headers() } = asked
  const facts = parsePage(html)
  const page = asked.pageUrl === null ? null : URL.parse(asked.pageUrl)
  const base = facts.baseHref === undefined ? page : (resolveUrl(facts.baseHref, page) ?? page)
  const endpoint = new URL(`/f/${form.formKey}`, asked.origin)
  const addresses = { endpoint, base, page }
  const { publicId, turnstile } = asked
  const question: PolicyCheckInput = {
    form,
    parsedPage: facts,
    headers,
    page,
    base,
    endpoint,
    publicId,
    turnstile,
  }

  const ours = findMatchingForms(facts, addresses).slice(0, FORMS_MAX)
  const perForm = ours.flatMap((one) =>
    addFormPosition(one, facts.forms.length, [
      ...one.findings,
      ...checkFormSubmission(one, addresses),
      ...checkControls(one, form),
      ...checkReferrer(question, one),
      ...checkEncoding(question, one, asked.headers !== undefined),
    ]),
  )
  return sortFindings([
    ...checkSettings(form, page),
    ...(ours.length === 0 ? [createMissingFormFinding(facts.forms.length, endpoint)] : []),
    ...perForm,
    ...checkSnippet(question),
    ...checkContentPolicy(question, ours),
  ])
}

/** On a page with several forms, a message says which one it means. */
const addFormPosition = ({ position }: MatchedForm, forms: number, findings: Finding[]): Finding[] =>
  forms < 2
    ? findings
    : findings.map((one) => ({ ...one, message: `Form ${position} of the page: ${one.message}` }))

function checkSettings({ enabled, allowedOrigins }: CheckedForm, page: URL | null): Finding[] {
  const found: Finding[] = []
  if (!enabled) {
    const message = 'The form is turned off: every submission is refused (403).'
    found.push(createFinding('error', 'form_disabled', message, 'Set enabled to true.'))
  }
  if (page && !isOriginAllowed(allowedOrigins, new Headers({ origin: page.origin }))) {
    const message = `The form takes submissions from certain origins only, and ${page.origin} is not one of them (403).`
    found.push(createFinding('error', 'origin_not_allowed', message, `Add ${page.origin} to allowedOrigins.`))
  }
  return found
}

function createMissingFormFinding(forms: number, endpoint: URL): Finding {
  const there =
    forms === 0 ? 'There is no form on the page' : `None of the ${forms} form(s) on the page is this one`
  const line = formatElement('form', { action: endpoint.href, method: 'post' })
  return createFinding(
    'error',
    'form_missing',
    `${there}: nothing is sent to ${endpoint.href}. A form that a script adds later is not seen here, and the tracking snippet does not see it either.`,
    `Write the form into the page's own HTML, beginning with ${line}`,
  )
}
