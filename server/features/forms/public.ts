// POST /f/{formKey}, open to everybody: every check in the order of docs/contract.md §7, then one transaction, then
// the answer. In front of Hono, as the redirect is.

import { readClientAddress, toRateLimitKey } from '../../http/client-address.ts'
import { requestId } from '../../http/request-id.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import type { Network } from '../../lib/ip-network.ts'
import { log } from '../../lib/log.ts'
import type { RateLimiter } from '../accounts/access/rate-limiter.ts'
import type { AttemptCounter } from './attempts/attempt-counter.ts'
import { countAttempt, countRefusedAttempt } from './attempts/count-attempt.ts'
import type { CaptchaProvider } from './captcha/captcha-provider.ts'
import { EndpointError, toEndpointError } from './endpoint/endpoint-error.ts'
import { parseFields, type SubmissionInput, validateFields } from './endpoint/fields.ts'
import { isJson, readBody } from './endpoint/read-body.ts'
import {
  type ResponseContext,
  respondToError,
  respondToPreflight,
  respondToSubmission,
  respondToWrongMethod,
  type SubmissionOutcome,
} from './endpoint/responses.ts'
import { type StoreSubmissionNeeds, storeSubmission } from './endpoint/store-submission.ts'
import { isOriginAllowed } from './settings/allowed-origins.ts'
import { type FormSettings, findFormSettings } from './settings/form-settings.ts'

export interface FormEndpointNeeds extends StoreSubmissionNeeds {
  origin: string
  trustProxy: Network[]
  limiter: RateLimiter
  captcha: CaptchaProvider
  attempts: Pick<AttemptCounter, 'count'>
}

type Peer = Pick<ServerHandle, 'requestIP'>

const PER_MINUTE = 10
const RETRY_AFTER_SECONDS = 60

/** @returns the handler for every method and for whatever follows `/f` in the path, with its slash or without */
export function createFormEndpoint(needs: FormEndpointNeeds) {
  function addressOf(request: Request, headers: Headers, server: Peer): string {
    const peer = server.requestIP(request)?.address ?? ''
    return readClientAddress(peer, headers.get('x-forwarded-for'), needs.trustProxy)
  }

  /** @throws Refusal 400, 403, 404 */
  async function openForm(path: string): Promise<FormSettings> {
    const key = parseFormKey(path)
    if (key === '') throw new EndpointError(400, 'Missing form key')
    const form = await findFormSettings(needs.db, key)
    if (!form) throw new EndpointError(404, 'Form not found')
    if (!form.enabled) throw new EndpointError(403, 'Form is disabled')
    return form
  }

  /** Whether the form takes this sender's submission. @throws Refusal 403, 429 */
  async function admit(form: FormSettings, headers: Headers, address: string): Promise<void> {
    const taken = await needs.limiter.take(`form:${form.id}:${toRateLimitKey(address)}`, PER_MINUTE)
    if (!taken.allowed) {
      throw new EndpointError(429, 'Too many submissions. Please try again later.', RETRY_AFTER_SECONDS)
    }
    if (!isOriginAllowed(form.allowedOrigins, headers)) throw new EndpointError(403, 'Origin not allowed')
  }

  async function submit(
    form: FormSettings,
    sent: SubmissionInput,
    address: string,
    headers: Headers,
  ): Promise<SubmissionOutcome> {
    const taken: SubmissionOutcome = { kind: 'taken', next: sent.next, redirectUrl: form.redirectUrl }
    // The same answer as for a person, and nothing is stored.
    if (sent.trapped) return { ...taken, trapped: true }
    const errors = validateFields(sent, form.requiredFields)
    if (errors.size > 0) return { kind: 'invalid', errors }
    // Last, because a token is good once: a slip in a field must not use it up.
    if (form.captcha && sent.token === undefined) {
      return { kind: 'captcha', error: 'Captcha verification required' }
    }
    const failed: SubmissionOutcome = { kind: 'captcha', error: 'Captcha verification failed' }
    const token =
      form.captcha && sent.token !== undefined
        ? await needs.captcha.check({
            formKey: form.formKey,
            token: sent.token,
            address,
            origins: form.allowedOrigins,
          })
        : undefined
    if (form.captcha && !token) return failed
    const stored = await storeSubmission(needs, form, {
      fields: sent.fields,
      email: sent.email,
      address,
      userAgent: headers.get('user-agent') ?? '',
      referer: headers.get('referer') ?? '',
      eventId: sent.eventId,
      // Global Privacy Control: whoever asks not to be followed is joined with no visit and no click.
      trackingOptOut: headers.get('sec-gpc') === '1',
      token,
    })
    return stored ? taken : failed
  }

  return async (request: Request, server: Peer, path: string): Promise<Response> => {
    const started = performance.now()
    const { method, headers } = request
    const asked: ResponseContext = {
      requestId: requestId(headers.get('x-request-id')),
      headers,
      origin: needs.origin,
    }
    if (method === 'OPTIONS') return respondToPreflight(asked)
    if (method !== 'POST') return respondToWrongMethod(asked)
    let form: FormSettings | undefined
    let trapped: boolean | undefined
    let answer: Response
    try {
      const address = addressOf(request, headers, server)
      form = await openForm(path)
      await admit(form, headers, address)
      const json = isJson(headers.get('content-type'))
      const sent = parseFields(await readBody(request, headers), { json })
      const outcome = await submit(form, sent, address, headers)
      trapped = outcome.kind === 'taken' ? outcome.trapped : undefined
      countAttempt(needs.attempts, form, outcome)
      answer = await respondToSubmission(asked, outcome)
    } catch (error) {
      const refusal = toEndpointError(error, asked.requestId)
      if (form) countRefusedAttempt(needs.attempts, form.id, refusal)
      answer = await respondToError(asked, refusal)
    }
    const ms = Math.round((performance.now() - started) * 10) / 10
    // The trap looks like a success everywhere else: this is where an operator finds out what it has caught.
    log.info('form_request', {
      requestId: asked.requestId,
      formId: form?.id,
      status: answer.status,
      trapped,
      ms,
    })
    return answer
  }
}

/** Nothing hangs on slashes around the key: site builders and proxies add them. */
function parseFormKey(path: string): string {
  const text = path.replace(/^\/+|\/+$/g, '')
  try {
    return decodeURIComponent(text)
  } catch {
    // Not a key that was ever given out; it is looked for as it stands.
    return text
  }
}
