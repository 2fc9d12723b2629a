// Checks the effects of the page's policies and scripts on its form: content security policy, the tracking snippet
// and the encoding.

import { findEncoding, parseCharset } from '../../../lib/formats/charset.ts'
import { quote } from '../../../lib/text.ts'
import { parseUrl } from '../../../lib/web-url.ts'
import { isCharsetField, toFormEncoding } from '../endpoint/body-charset.ts'
import { HONEYPOT_FIELD } from '../settings/control-fields.ts'
import { isNextAllowed } from '../settings/next-hosts.ts'
import {
  type ContentPolicy,
  findForbiddingDirective,
  findStyleForbiddingDirective,
  readContentPolicies,
} from './content-policy.ts'
import { createFinding, type Findings, formatElement, foundError, foundWarning } from './finding.ts'
import type { CheckedPage, PageForm, ParsedPage } from './parse-page.ts'

const readMetaContents = (metas: ParsedPage['metas'], name: string) =>
  metas.flatMap((meta) =>
    meta.get('http-equiv')?.trim().toLowerCase() === name ? [meta.get('content') ?? ''] : [],
  )

function listContentPolicies({ parsedPage, headers }: CheckedPage): ContentPolicy[] {
  const fromHeader = readContentPolicies(headers.get('content-security-policy') ?? '')
  // In a meta element `sandbox` has no effect (https://www.w3.org/TR/CSP3/#meta-element).
  const fromMeta = readMetaContents(parsedPage.metas, 'content-security-policy').flatMap(readContentPolicies)
  for (const policy of fromMeta) policy.delete('sandbox')
  return [...fromHeader, ...fromMeta]
}

const CSP = 'The Content-Security-Policy of the page'
const CHALLENGES = new URL('https://challenges.cloudflare.com/turnstile/v0/api.js')

/** @param forms the matched forms; browsers go to their `_next` after a submission */
export function* checkContentPolicy(check: CheckedPage, forms: PageForm[]): Findings {
  const { endpoint, page } = check
  const policies = listContentPolicies(check)
  const blocked = findForbiddingDirective(policies, 'form-action', endpoint, page)
  if (blocked) {
    const message = `${CSP} forbids sending forms to ${endpoint.origin} (${blocked}): the browser drops every submission.`
    yield foundError('csp_form_action', message, `Add ${endpoint.origin} to form-action.`)
  }
  for (const target of listTargets(check, forms)) {
    const url = parseUrl(target, page?.href)
    if (!url || blocked || !findForbiddingDirective(policies, 'form-action', url, page)) continue
    const message = `${CSP} forbids form-action ${url.origin}, the destination after the form: Chrome stops there, although the submission is stored.`
    const source = url.origin === page?.origin ? "'self'" : url.origin
    yield foundWarning('csp_form_action_redirect', message, `Add ${source} to form-action as well.`)
  }
  for (const policy of policies) {
    const sandbox = policy.get('sandbox')
    if (sandbox && !sandbox.some((word) => word.toLowerCase() === 'allow-forms')) {
      const message = `${CSP} has sandbox without allow-forms: no form of the page can be sent.`
      yield foundError('csp_sandbox', message, 'Add allow-forms to sandbox.')
    }
    if (endpoint.protocol === 'http:' && policy.has('upgrade-insecure-requests')) {
      const message = `${CSP} has upgrade-insecure-requests: the browser sends the form to https://${endpoint.host}, where no server answers.`
      yield foundError('csp_upgrade', message, 'Remove upgrade-insecure-requests, or serve forms over https.')
    }
  }
  yield* checkHoneypotStyle(forms, policies)
  yield* checkSnippetPolicy(check, policies)
}

/** A honeypot that people see catches people. */
function* checkHoneypotStyle(forms: PageForm[], policies: ContentPolicy[]): Findings {
  const styled = forms.some(({ controls }) =>
    controls.some(
      ({ name, type, concealedByStyle }) => name === HONEYPOT_FIELD && type !== 'hidden' && concealedByStyle,
    ),
  )
  const blocked = styled && findStyleForbiddingDirective(policies)
  if (!blocked) return
  const message = `${CSP} forbids the style that hides the honeypot (${blocked}): people see it, and their submissions are silently dropped when they fill it in.`
  const fix = `Give its box a class, and hide the class in a style sheet that the page may load, or write ${formatElement('input', { type: 'hidden', name: HONEYPOT_FIELD })}`
  yield foundWarning('honeypot_style_blocked', message, fix)
}

/** Where browsers are sent after the form, as far as these are not pages of this server. */
function listTargets({ form, page }: CheckedPage, forms: PageForm[]): string[] {
  const back = page?.href ?? ''
  const after = form.redirectUrl ?? (form.afterSubmit === 'hosted' ? '' : back)
  const targets = [...listNextUrls(forms), after, form.onError === 'hosted' ? '' : back]
  return [...new Set(targets)].filter((target) => target !== '')
}

export const listNextUrls = (forms: PageForm[]) =>
  forms.flatMap(({ controls }) =>
    controls.flatMap(({ name, attributes }) => {
      const value = name === '_next' ? attributes.get('value') : undefined
      return value ? [value] : []
    }),
  )

/** Checks `_next` against the hosts that the form names. */
export function* checkNextHosts({ form: { nextHosts }, page }: CheckedPage, form: PageForm): Findings {
  for (const value of listNextUrls([form])) {
    const url = parseUrl(value, page?.href)
    if (!url || !/^https?:$/.test(url.protocol) || isNextAllowed(nextHosts, url)) continue
    const message = `_next leads to ${quote(url.host)}, which is not in the form's nextHosts: people land elsewhere after sending.`
    yield foundWarning('next_host', message, `Add ${url.host} to nextHosts, or correct _next.`)
  }
}

/** Checks the directives that the snippet needs, where the page has the snippet or the form's captcha needs it. */
function* checkSnippetPolicy(check: CheckedPage, policies: ContentPolicy[]): Findings {
  const { endpoint, page, form, turnstile } = check
  const script = findSnippet(check)
  if (!script && !form.captcha) return
  const severity = form.captcha ? 'error' : 'warning'
  const lost = form.captcha
    ? 'the page has no captcha, and every submission is refused'
    : 'forms are sent without it, and visits are not linked to submissions'
  const load = { nonce: script?.get('nonce'), integrity: script?.get('integrity') }
  const scripts = findForbiddingDirective(policies, 'script-src', new URL('/t.js', endpoint), page, load)
  if (scripts) {
    const message = `${CSP} forbids the tracking snippet (${scripts}): ${lost}.`
    const fix = `Add ${endpoint.origin} to ${describeDirective(scripts, 'script-src')}; where it has 'strict-dynamic', give the script the nonce.`
    yield createFinding(severity, 'csp_script_src', message, fix)
  }
  const calls = ['/e', endpoint.pathname].map((path) => new URL(path, endpoint))
  const connect = calls
    .map((call) => findForbiddingDirective(policies, 'connect-src', call, page))
    .find(Boolean)
  if (connect) {
    const message = `${CSP} forbids the tracking snippet's calls to ${endpoint.origin} (${connect}): ${lost}.`
    const fix = `Add ${endpoint.origin} to ${describeDirective(connect, 'connect-src')}.`
    yield createFinding(severity, 'csp_connect_src', message, fix)
  }
  if (form.captcha && turnstile) {
    for (const directive of ['script-src', 'frame-src'] as const) {
      const blocked = findForbiddingDirective(policies, directive, CHALLENGES, page, load)
      if (!blocked || (directive === 'script-src' && hasStrictDynamic(policies))) continue
      const message = `${CSP} forbids Cloudflare Turnstile (${blocked}): every submission is refused.`
      const fix = `Add ${CHALLENGES.origin} to ${describeDirective(blocked, directive)}.`
      yield foundError(`csp_turnstile_${directive.slice(0, -4)}`, message, fix)
    }
  }
}

/** A new directive does not inherit the sources of default-src, so its list must repeat them. */
const describeDirective = (name: string, directive: string) =>
  name === 'default-src' ? `${directive} (a new one must repeat the sources of default-src)` : name

/** With 'strict-dynamic', scripts that the snippet adds are allowed with it. */
const hasStrictDynamic = (policies: ContentPolicy[]) =>
  policies.some((policy) => [...policy.values()].some((sources) => sources.includes("'strict-dynamic'")))

export const findSnippet = ({ parsedPage, base, endpoints }: CheckedPage) =>
  parsedPage.scripts.find((script) => {
    const src = script.get('src')
    const url = src === undefined ? null : parseUrl(src, base?.href ?? 'https://page.invalid/')
    return url?.pathname === '/t.js' && endpoints.some(({ host }) => host === url.host)
  })

const SCRIPT_TYPE = /^(|module|(text|application)\/(x-)?(java|ecma)script)$/i

export function* checkSnippet(check: CheckedPage): Findings {
  const { form, endpoint, page, publicId, parsedPage } = check
  const src = new URL('/t.js', endpoint).href
  const line = `${formatElement('script', { defer: '', src, 'data-workspace': publicId })}</script>`
  const script = findSnippet(check)
  const severity = form.captcha ? 'error' : 'warning'
  const refused = form.captcha
    ? ' The form requires a captcha, so every submission is refused until the snippet runs.'
    : ''
  if (!script) {
    const message = form.captcha
      ? 'The form requires a captcha, but the page does not load the tracking snippet that shows it: every submission is refused with "Captcha verification required".'
      : 'The page does not load the tracking snippet: it shows no message after sending, and visits are not linked to submissions.'
    const fix = `Add this line to the page's head: ${line}`
    yield createFinding(form.captcha ? 'error' : 'info', 'snippet_missing', message, fix)
  } else if (!SCRIPT_TYPE.test((script.get('type') ?? '').trim())) {
    const message = `The tracking snippet has type=${quote(script.get('type') ?? '')}, so it runs only when another script starts it.${refused}`
    yield createFinding(severity, 'snippet_parked', message, `Write ${line}`)
  } else if (page?.protocol === 'https:' && /^http:/i.test((script.get('src') ?? '').trim())) {
    const message = `The tracking snippet is loaded over http, which browsers block on an https page.${refused}`
    yield createFinding(severity, 'snippet_insecure', message, `Write ${line}`)
  }
  if (form.captcha && parsedPage.hasOwnTurnstile) {
    const message =
      'The page has its own Turnstile box. Its tokens belong to another site key and are refused.'
    yield foundWarning('captcha_own_box', message, 'Remove it: the tracking snippet shows the captcha.')
  }
}

/**
 * Browsers send text in the encoding of the form, else of the page. Without `_charset_` the endpoint does not know
 * it, and reads text that is not UTF-8 as windows-1252.
 * @param fetched the headers are known
 */
export function* checkEncoding(
  { parsedPage, headers }: CheckedPage,
  form: PageForm,
  fetched: boolean,
): Findings {
  const declared =
    parseCharset(headers.get('content-type')) ??
    parsedPage.metas
      .map((meta) => meta.get('charset') ?? parseCharset(readMetaContentType(meta)))
      .find(Boolean)
  const chosen = (form.attributes.get('accept-charset') ?? '').split(/[\s,]+/).find(findEncoding)
  const sent = chosen ?? declared
  if (sent === undefined && !fetched) return
  if (toFormEncoding(findEncoding(sent)) === 'utf-8') return
  if (form.controls.some(({ name, disabled }) => isCharsetField(name) && !disabled)) return
  const what =
    chosen !== undefined
      ? `The form sends its text as ${quote(chosen)}`
      : declared !== undefined
        ? `The page is encoded as ${quote(declared)}`
        : 'The page does not declare its encoding'
  const message = `${what}: letters may arrive broken.`
  const own = 'accept-charset="utf-8"'
  const field = formatElement('input', { type: 'hidden', name: '_charset_' })
  const fix =
    chosen !== undefined
      ? `Write ${own} into the form, or add ${field} to it.`
      : `Add ${formatElement('meta', { charset: 'utf-8' })} as the first line of the head (and save the page as UTF-8), or ${own} to the form, or ${field} into it.`
  yield foundWarning('charset', message, fix)
}

const readMetaContentType = (meta: Map<string, string>) =>
  meta.get('http-equiv')?.toLowerCase() === 'content-type' ? (meta.get('content') ?? null) : null
