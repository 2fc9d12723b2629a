// Where the forms of a page send what is typed: which of them is ours, and what keeps one from being it.

import { createFinding, type Finding, formatElement, quote } from './finding.ts'
import type { FormControl, PageForm, ParsedPage } from './parse-page.ts'

/** Ours: it posts to the form's endpoint, or was meant to. */
export interface MatchedForm extends PageForm {
  findings: Finding[]
}

export interface PageAddresses {
  /** `https://go.example/f/k7m2xw9qpd` */
  endpoint: URL
  /** What relative addresses of the page start from; null where nobody knows. */
  base: URL | null
  page: URL | null
}

export const resolveUrl = (text: string, base: URL | null): URL | null => URL.parse(text, base?.href)

/** The forms that belong to the endpoint; where none does exactly, those that look as if they were meant to. */
export function findMatchingForms({ forms }: ParsedPage, addresses: PageAddresses): MatchedForm[] {
  const judged = forms.map((form) => ({
    form,
    verdict: judgeAction(form.attributes.get('action'), addresses),
  }))
  const exact = judged.filter(({ verdict }) => verdict === 'ours')
  const sentByButton = judged.filter(({ form }) =>
    form.controls.some((one) => submitsToEndpoint(one, addresses)),
  )
  if (exact.length > 0 || sentByButton.length > 0) {
    return [...new Set([...exact, ...sentByButton])].map(({ form }) => ({ ...form, findings: [] }))
  }
  return judged.flatMap(({ form, verdict }) =>
    typeof verdict === 'object' ? [{ ...form, findings: [verdict] }] : [],
  )
}

function submitsToEndpoint({ attributes, type }: FormControl, addresses: PageAddresses): boolean {
  const action = attributes.get('formaction')
  return action !== undefined && /^(submit|image)$/.test(type) && judgeAction(action, addresses) === 'ours'
}

const parseFormKey = (path: string) => {
  const key = /^\/f\/+([^/]*)\/*$/.exec(path)?.[1]
  return key !== undefined && /^[\w.~%-]*$/.test(key) ? key.replace(/%([2-7][0-9a-f])/gi, unescapeByte) : key
}
const unescapeByte = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))

/** 'ours', 'foreign', or what is wrong with an action that was meant for us. */
function judgeAction(action: string | undefined, { endpoint, base, page }: PageAddresses) {
  const written = (action ?? '').trim()
  const fix = `Write it in full: ${formatElement('form', { action: endpoint.href, method: 'post' })}`
  const wrong = (code: string, message: string) => createFinding('error', code, message, fix)
  const key = parseFormKey(endpoint.pathname) as string
  const absolute = /^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(written)
  const url = resolveUrl(written, base)
  if (url?.origin === endpoint.origin && parseFormKey(url.pathname) === key) return 'ours'

  const named = written.includes(key) || written.toLowerCase().startsWith(`${endpoint.host}/f`)
  if (!absolute) {
    if (!named) return 'foreign'
    const leads = url ? `, which leads to ${quote(url.href)}` : ''
    return wrong(
      'action_relative',
      `The form's action ${quote(written)} has no host${leads} and not to ${endpoint.origin}. That is right only where your own server hands this path on.`,
    )
  }
  if (url?.hostname !== endpoint.hostname) {
    if (!named) return 'foreign'
    const own = url?.origin === page?.origin ? 'your own site' : 'another server'
    return wrong(
      'action_host',
      `The form's action ${quote(written)} leads to ${own} and not to ${endpoint.origin}. That is right only where that server hands this path on.`,
    )
  }
  if (url.protocol !== endpoint.protocol) {
    const https = endpoint.protocol === 'https:'
    return wrong(
      https ? 'action_scheme' : 'action_scheme_https',
      `The form's action ${quote(written)} begins with ${url.protocol}// and the form is at ${endpoint.protocol}//. ${https ? 'Browsers warn people before they send a form over http, and what is redirected to https arrives empty.' : 'Nothing answers there.'}`,
    )
  }
  if (url.port !== endpoint.port) {
    return wrong(
      'action_host',
      `The form's action ${quote(written)} names another port than ${endpoint.origin}.`,
    )
  }
  if (url.pathname.startsWith(`/f/${key}`)) {
    return wrong('action_trailing', `The form's action ${quote(written)} goes on after the form key.`)
  }
  if (/^\/f(\/|$)/.test(url.pathname)) {
    const other = parseFormKey(url.pathname)
    return wrong(
      'action_other_key',
      other
        ? `The form's action ${quote(written)} names another form (${quote(other)}).`
        : `The form's action ${quote(written)} has no form key.`,
    )
  }
  return wrong(
    'action_path',
    `The form's action ${quote(written)} has another path than the form's endpoint.`,
  )
}

/** What the form, or the button that sends it, says about the way it is sent. */
export function checkFormSubmission(form: PageForm, addresses: PageAddresses): Finding[] {
  const { endpoint } = addresses
  const found: Finding[] = []
  const action = judgeAction(form.attributes.get('action'), addresses)
  for (const { type, attributes } of form.controls) {
    if (!/^(submit|image)$/.test(type)) continue
    const own = attributes.get('formaction')
    const verdict = own === undefined ? action : judgeAction(own, addresses)
    if (own !== undefined && verdict !== 'ours') {
      const message = `A button of the form has its own formaction ${quote(own)}: what is sent with it does not arrive here.`
      found.push(createFinding('error', 'formaction', message, 'Remove formaction from the button.'))
    }
    // Where the button leads elsewhere, how it is sent there is not our matter.
    if (verdict === 'ours') found.push(...checkSubmitAttributes(attributes, 'form', endpoint))
  }
  return [...checkSubmitAttributes(form.attributes, '', endpoint), ...found]
}

/** @param prefix `form` for a button, whose attributes are called `formmethod` and so on */
function checkSubmitAttributes(
  attributes: Map<string, string>,
  prefix: '' | 'form',
  endpoint: URL,
): Finding[] {
  const found: Finding[] = []
  const own = (name: string) => attributes.get(prefix + name)?.trim()
  const place = prefix ? 'A button of the form' : 'The form'
  const method = own('method')
  if (prefix ? method !== undefined && method.toLowerCase() !== 'post' : method?.toLowerCase() !== 'post') {
    const said = method ? `has ${prefix}method=${quote(method)}` : 'has no method, which means get'
    const fix = prefix
      ? 'Remove formmethod from the button.'
      : `Write ${formatElement('form', { action: endpoint.href, method: 'post' })}`
    found.push(createFinding('error', 'method_not_post', `${place} ${said}: only post is stored.`, fix))
  }
  if (own('enctype')?.toLowerCase() === 'text/plain') {
    const message = `${place} has ${prefix}enctype="text/plain", which cannot be read reliably and is refused (415).`
    found.push(createFinding('error', 'enctype_text_plain', message, `Remove ${prefix}enctype.`))
  }
  const target = own('target')
  if (target && target.toLowerCase() !== '_self') {
    const message = `${place} has ${prefix}target=${quote(target)}: the answer opens in another window or frame, and the tracking snippet leaves such a form alone (no message on the page, no captcha).`
    found.push(createFinding('warning', 'target', message, `Remove ${prefix}target.`))
  }
  return found
}
