// Checks the return path of a form without the snippet: where people land after a submission, and after a mistake in
// one.

import { quote } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { findSnippet, listNextUrls } from './check-policies.ts'
import { createFinding, type Finding, type Findings, formatElement, foundWarning } from './finding.ts'
import type { CheckedPage, PageForm } from './parse-page.ts'
import {
  type ReferrerPolicy,
  type ReferrerReach,
  readReferrerPolicy,
  toReferrerReach,
} from './referrer-policy.ts'

interface ReturnCheck extends CheckedPage {
  /** The page loads the snippet, which keeps people on the page. */
  hasSnippet: boolean
  /** The form has a `_next`. */
  hasNext: boolean
}

/**
 * `chosen`: a URL that the form names; `hosted`: a page of ours that the form chooses; `page`: the form's page; `home`: the
 * start page of the site; `unknown`: a page of ours, because nothing names the form's page.
 */
type Landing = 'chosen' | 'hosted' | 'page' | 'home' | 'unknown'

interface Landings {
  success: Landing
  mistake: Landing
}

const FULL_REFERRER = formatElement('meta', { name: 'referrer', content: 'no-referrer-when-downgrade' })

export function* checkReturn(checked: CheckedPage, form: PageForm): Findings {
  const hasNext = listNextUrls([form]).length > 0
  const check = { ...checked, hasSnippet: findSnippet(checked) !== undefined, hasNext }
  const { cause, reach } = readReach(check, form)
  const landings = findLandings(check, reach)
  if (reach === 'nothing') yield createHiddenFinding(check, landings, cause)
  if (reach === 'origin' && !isStartPage(check.page)) yield createOriginFinding(check, landings, cause)
  yield* checkPageUrl(check, landings)
  yield* checkMessages(check, landings)
}

/** Reads how much of its page's address a request from the form reveals, and why. */
function readReach(check: ReturnCheck, form: PageForm) {
  const { parsedPage, headers, page, endpoint } = check
  const policy = readReferrerPolicy(parsedPage, headers)
  const noreferrer = /(^|\s)noreferrer(\s|$)/i.test(form.attributes.get('rel') ?? '')
  const reach = noreferrer ? 'nothing' : toReferrerReach(policy.value, page, endpoint)
  return { cause: noreferrer ? NOREFERRER : describePolicy(policy, reach, endpoint), reach }
}

const NOREFERRER = {
  text: 'The form has rel="noreferrer"',
  repair: 'remove rel="noreferrer" from the form',
}

function describePolicy({ value, from }: ReferrerPolicy, reach: ReferrerReach, endpoint: URL) {
  // Only `unsafe-url` names an https page to http, and nobody should set it.
  if (reach === 'nothing' && endpoint.protocol === 'http:' && !/^(no-referrer|same-origin)$/.test(value)) {
    const text = 'Browsers do not tell an http address which https page sends to it'
    return { text, repair: 'serve this server over https' }
  }
  const place = from === 'meta' ? 'meta element' : 'header'
  const text =
    from === 'browser'
      ? `Browsers tell another site only the origin of a page (${value})`
      : `The page's referrer policy is ${quote(value)} (${place})`
  return { text, repair: `add to the page's head: ${FULL_REFERRER}` }
}
type Cause = typeof NOREFERRER

const isStartPage = (page: URL | null) => page?.pathname === '/' && page.search === ''

function findLandings(check: ReturnCheck, reach: ReferrerReach): Landings {
  const { form, hasNext } = check
  const back = findWayBack(check, reach)
  return {
    success:
      form.redirectUrl !== null || hasNext ? 'chosen' : form.afterSubmit === 'hosted' ? 'hosted' : back,
    mistake: form.onError === 'hosted' ? 'hosted' : back,
  }
}

/** The target of the Referer, as the endpoint reads it: `pageUrl` replaces the bare origin of its own site. */
function findWayBack({ form: { pageUrl }, page }: ReturnCheck, reach: ReferrerReach): Landing {
  if (reach === 'nothing') return 'unknown'
  if (reach === 'page' || isStartPage(page)) return 'page'
  return page !== null && parseUrl(pageUrl ?? '')?.origin === page.origin ? 'page' : 'home'
}

const listChoices = (page: URL | null, { success, mistake }: Landings, landing: Landing) => {
  const settings = [success === landing && 'afterSubmit', mistake === landing && 'onError'].filter(Boolean)
  const hosted = settings.length > 0 ? `set ${settings.join(' and ')} to hosted` : ''
  const known =
    landing === 'home' && settings.length > 0 ? `set pageUrl to ${page?.href ?? 'its address'}` : ''
  return [known, hosted].filter(Boolean)
}

const join = (choices: string[]) => {
  const text = choices.join(', or ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function createHiddenFinding(check: ReturnCheck, landings: Landings, { text, repair }: Cause): Finding {
  const { form, hasSnippet, page } = check
  const strict = form.allowedOrigins.length > 0 && !hasSnippet
  const lost = [
    'attribution is lost',
    landings.success === 'unknown' && 'the thanks page does not lead back',
    landings.mistake === 'unknown' && 'mistakes are shown on a page of this server',
    strict && 'the form refuses submissions without an allowed origin (403)',
  ].filter(Boolean)
  const message = `${text}: the request does not say which page it came from: ${lost.join(', ')}.`
  const fix = `${join([...listChoices(page, { ...landings, mistake: 'hosted' }, 'unknown'), repair])}`
  return createFinding(strict ? 'error' : 'warning', 'referrer_hidden', message, endSentence(fix))
}

function createOriginFinding(check: ReturnCheck, landings: Landings, { text, repair }: Cause): Finding {
  const { hasSnippet, page, form } = check
  const when = [
    landings.success === 'home' && 'after sending',
    landings.mistake === 'home' && 'after a mistake, without a message',
  ].filter(Boolean)
  const condition = hasSnippet ? 'where the tracking snippet cannot run, ' : ''
  const elsewhere =
    form.pageUrl !== null && when.length > 0 ? ' (pageUrl is on another site and does not help)' : ''
  const landing =
    when.length > 0 ? `${condition}senders land on the home page ${when.join(' and ')}${elsewhere}, and ` : ''
  const message = `${text}. It tells us only the site, not the page: ${landing}submissions do not show which page they came from.`
  const fix = join([...listChoices(page, landings, 'home'), repair])
  const severity = when.length > 0 && !hasSnippet ? 'warning' : 'info'
  return createFinding(severity, 'referrer_origin_only', message, endSentence(fix))
}

/** A line to paste ends the text without a stop. */
const endSentence = (text: string) => (text.endsWith('>') ? text : `${text}.`)

/** The form is known on another page than the checked one. */
function* checkPageUrl({ form: { pageUrl }, page }: ReturnCheck, landings: Landings): Findings {
  const known = parseUrl(pageUrl ?? '')
  if (!known || !page || (known.origin === page.origin && known.pathname === page.pathname)) return
  // Another site keeps its own way back. The finding about the origin says so.
  if (known.origin !== page.origin && !Object.values(landings).includes('hosted')) return
  const message = `The form's pageUrl is ${quote(known.href)}, not this page: senders are led back to that page.`
  const fix = `Set pageUrl to ${page.href}, unless the form is on both pages.`
  yield createFinding('info', 'page_url_differs', message, fix)
}

/** Without a script that reads `_errors`, the page opens again without a message. */
function* checkMessages({ hasSnippet, form }: ReturnCheck, { mistake }: Landings): Findings {
  // A form with captcha needs the snippet anyway, and its absence is an error.
  if (hasSnippet || form.captcha || mistake !== 'page') return
  const message =
    'After a mistake the page opens again with the messages in its address (_errors), and only a script can show them: senders see an empty form.'
  const fix = 'Set onError to hosted, or add the tracking snippet.'
  yield foundWarning('errors_unseen', message, fix)
}
