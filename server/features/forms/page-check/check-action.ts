// Checks the targets of a page's forms: which form posts to the endpoint, and what keeps one from it.

import { trimBoth } from '../../../lib/clean-text.ts'
import { quote } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { type Finding, type Findings, formatElement, foundError, foundWarning } from './finding.ts'
import type { FormControl, PageForm, ParsedPage } from './parse-page.ts'

/** A form of the page that posts to the form's endpoint, or was meant to. */
export interface MatchedForm extends PageForm {
  findings: Finding[]
}

export interface PageAddresses {
  /** `https://go.example/f/k7m2xw9qpd` */
  endpoint: URL
  /** The base of relative addresses on the page; null where it is unknown. */
  base: URL | null
  page: URL | null
}

export const resolveUrl = (text: string, base: URL | null): URL | null => parseUrl(text, base?.href)

/** @returns the forms that post to the endpoint; without any, the forms that probably should */
export function findMatchingForms({ forms }: ParsedPage, addresses: PageAddresses): MatchedForm[] {
  const candidates = forms.map((form) => ({
    form,
    verdict: judgeAction(form.attributes.get('action'), addresses),
  }))
  const exact = candidates.filter(({ verdict }) => verdict === 'ours')
  const sentByButton = candidates.filter(({ form }) =>
    form.controls.some((control) => submitsToEndpoint(control, addresses)),
  )
  if (exact.length > 0 || sentByButton.length > 0) {
    return [...new Set([...exact, ...sentByButton])].map(({ form }) => ({ ...form, findings: [] }))
  }
  return candidates.flatMap(({ form, verdict }) =>
    typeof verdict === 'object' ? [{ ...form, findings: [verdict] }] : [],
  )
}

/** A form may post to any domain of its workspace. @returns the first address that a form of the page posts to, else the first one */
export function chooseEndpoint({ forms }: ParsedPage, endpoints: URL[], base: URL | null): URL {
  const isUsed = (endpoint: URL) =>
    forms.some(
      ({ attributes }) => judgeAction(attributes.get('action'), { endpoint, base, page: null }) === 'ours',
    )
  return endpoints.find(isUsed) ?? (endpoints[0] as URL)
}

function submitsToEndpoint({ attributes, type }: FormControl, addresses: PageAddresses): boolean {
  const action = attributes.get('formaction')
  return action !== undefined && /^(submit|image)$/.test(type) && judgeAction(action, addresses) === 'ours'
}

const parseFormKey = (path: string) => {
  const key = trimBoth(path.slice(2), '/')
  if (!path.startsWith('/f/') || key.includes('/')) return undefined
  return /^[\w.~%-]*$/.test(key) ? key.replace(/%([2-7][0-9a-f])/gi, unescapeByte) : key
}
const unescapeByte = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))

/** @returns 'ours', 'foreign', or a finding about an action that was meant for the endpoint */
function judgeAction(action: string | undefined, { endpoint, base, page }: PageAddresses) {
  const written = (action ?? '').trim()
  const fix = `Write it in full: ${formatElement('form', { action: endpoint.href, method: 'post' })}`
  const toError = (code: string, message: string) => foundError(code, message, fix)
  const key = parseFormKey(endpoint.pathname) as string
  const absolute = /^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(written)
  const url = resolveUrl(written, base)
  if (url?.origin === endpoint.origin && parseFormKey(url.pathname) === key) return 'ours'

  const namesEndpoint = written.includes(key) || written.toLowerCase().startsWith(`${endpoint.host}/f`)
  if (!absolute) {
    if (!namesEndpoint) return 'foreign'
    const leads = url ? `, which leads to ${quote(url.href)}` : ''
    return toError(
      'action_relative',
      `The form's action ${quote(written)} has no host${leads} and not to ${endpoint.origin}. That is right only where your own server hands this path on.`,
    )
  }
  if (url?.hostname !== endpoint.hostname) {
    if (!namesEndpoint) return 'foreign'
    const own = url?.origin === page?.origin ? 'your own site' : 'another server'
    return toError(
      'action_host',
      `The form's action ${quote(written)} leads to ${own} and not to ${endpoint.origin}. That is right only where that server hands this path on.`,
    )
  }
  if (url.protocol !== endpoint.protocol) {
    const https = endpoint.protocol === 'https:'
    return toError(
      https ? 'action_scheme' : 'action_scheme_https',
      `The form's action ${quote(written)} begins with ${url.protocol}// and the form is at ${endpoint.protocol}//. ${https ? 'Browsers warn people before they send a form over http, and a form redirected to https arrives empty.' : 'No server answers there.'}`,
    )
  }
  if (url.port !== endpoint.port) {
    return toError(
      'action_host',
      `The form's action ${quote(written)} has another port than ${endpoint.origin}.`,
    )
  }
  if (url.pathname.startsWith(`/f/${key}`)) {
    return toError(
      'action_trailing',
      `The form's action ${quote(written)} has extra characters after the form key.`,
    )
  }
  if (/^\/f(\/|$)/.test(url.pathname)) {
    const other = parseFormKey(url.pathname)
    return toError(
      'action_other_key',
      other
        ? `The form's action ${quote(written)} names another form (${quote(other)}).`
        : `The form's action ${quote(written)} has no form key.`,
    )
  }
  return toError(
    'action_path',
    `The form's action ${quote(written)} has another path than the form's endpoint.`,
  )
}

/** Checks method, enctype and target of the form and of its submit buttons. */
export function* checkFormSubmission(form: PageForm, addresses: PageAddresses): Findings {
  const { endpoint } = addresses
  yield* checkSubmitAttributes(form.attributes, '', endpoint)
  const action = judgeAction(form.attributes.get('action'), addresses)
  for (const { type, attributes } of form.controls) {
    if (!/^(submit|image)$/.test(type)) continue
    const own = attributes.get('formaction')
    const verdict = own === undefined ? action : judgeAction(own, addresses)
    if (own !== undefined && verdict !== 'ours') {
      const message = `A button of the form has its own formaction ${quote(own)}: submissions sent with it do not arrive here.`
      yield foundError('formaction', message, 'Remove formaction from the button.')
    }
    // A button that sends the form elsewhere has its finding already.
    if (verdict === 'ours') yield* checkSubmitAttributes(attributes, 'form', endpoint)
  }
}

/** @param prefix `form` for a button, which has attributes such as `formmethod` */
function* checkSubmitAttributes(
  attributes: Map<string, string>,
  prefix: '' | 'form',
  endpoint: URL,
): Findings {
  const own = (name: string) => attributes.get(prefix + name)?.trim()
  const place = prefix ? 'A button of the form' : 'The form'
  const method = own('method')
  if (prefix ? method !== undefined && method.toLowerCase() !== 'post' : method?.toLowerCase() !== 'post') {
    const current = method ? `has ${prefix}method=${quote(method)}` : 'has no method, which means get'
    const fix = prefix
      ? 'Remove formmethod from the button.'
      : `Write ${formatElement('form', { action: endpoint.href, method: 'post' })}`
    yield foundError('method_not_post', `${place} ${current}: only post is stored.`, fix)
  }
  if (own('enctype')?.toLowerCase() === 'text/plain') {
    const message = `${place} has ${prefix}enctype="text/plain", which cannot be read reliably and is refused (415).`
    yield foundError('enctype_text_plain', message, `Remove ${prefix}enctype.`)
  }
  const target = own('target')
  if (target && target.toLowerCase() !== '_self') {
    const message = `${place} has ${prefix}target=${quote(target)}: the answer opens in another window or frame, and the tracking snippet leaves such a form alone (no message on the page, no captcha).`
    yield foundWarning('target', message, `Remove ${prefix}target.`)
  }
}
