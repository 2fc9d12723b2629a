// POST /f/{formKey}, open to everybody: every check in the order of docs/contract.md §7, then one transaction, then
// the answer. It runs in front of Hono, as the redirect does.

import { readClientAddress, toRateLimitKey } from '../../http/client-address.ts'
import type { PostRequest } from '../../http/fast-path/request-parser.ts'
import type { FastResponse } from '../../http/fast-path/response-text.ts'
import { requestId } from '../../http/request-id.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import { trimBoth } from '../../lib/clean-text.ts'
import { waitForTurn } from '../../lib/concurrency/next-turn.ts'
import type { Network } from '../../lib/ip-network.ts'
import { log } from '../../lib/log.ts'
import { type RequestDomain, servesWorkspace } from '../../lib/request-domain.ts'
import { describeRequest } from '../../lib/telemetry/request-context.ts'
import { parseUrl } from '../../lib/web-url.ts'
import type { ByteLimiter, RateLimiter } from '../accounts/access/rate-limiter.ts'
import type { CreditNeeds } from '../attribution/record-touches.ts'
import type { AttemptCounter } from './attempts/attempt-counter.ts'
import { countAttempt, countRefusedAttempt } from './attempts/count-attempt.ts'
import { spendAddressBytes, toDeclaredBytes } from './endpoint/byte-budgets.ts'
import { EndpointError, toEndpointError } from './endpoint/endpoint-error.ts'
import { parseFields } from './endpoint/fields.ts'
import { type FormBody, isJson, isMultipart, readBody, requireKnownType } from './endpoint/read-body.ts'
import { receiveForm } from './endpoint/receive-form.ts'
import { parseThanksPath } from './endpoint/redirect-target.ts'
import {
  type EndpointAnswer,
  type ResponseContext,
  readAnswerShape,
  respondToError,
  respondToPreflight,
  respondToSubmission,
  respondToWrongMethod,
  respondWithThanks,
  toEndpointResponse,
  toFastEndpointResponse,
} from './endpoint/responses.ts'
import { RETRY_AFTER_SECONDS, requireEnabled, type SubmitNeeds, submit } from './endpoint/submit.ts'
import type { TestTokens } from './endpoint/test-tokens.ts'
import { createUploadWatch } from './endpoint/watch-upload.ts'
import { type AnswerLinkNeeds, answerReplyLink, type LinkRequest } from './replies/answer-link.ts'
import { parseLinkPath, type ReplyLinks } from './replies/reply-links.ts'
import { chooseLanguage, type LanguageRequest, readLanguageRequest } from './rules/sender-language.ts'
import { isOriginAllowed } from './settings/allowed-origins.ts'
import { type FormSettings, findFormSettings } from './settings/form-settings.ts'
import { createFileReceiver, type FileReceiver } from './uploads/receive-files.ts'
import type { UploadSettings } from './uploads/schema.ts'
import type { Uploads } from './uploads/uploads.ts'

export interface FormEndpointNeeds extends SubmitNeeds, CreditNeeds {
  /** The origin of a domain by its name, '' for the default domain. */
  toOrigin: (domain: string) => string
  trustProxy: Network[]
  limiter: RateLimiter & ByteLimiter
  uploads: Pick<Uploads, 'store' | 'slots' | 'unfinished'>
  attempts: Pick<AttemptCounter, 'count'>
  testTokens: Pick<TestTokens, 'isValid'>
  replyLinks: ReplyLinks
  /** True where the operator blocks the URL's host. */
  isBlocked: (url: URL) => boolean
}

type Peer = Pick<ServerHandle, 'requestIP'>

interface RequestContext extends ResponseContext {
  domain: RequestDomain
}

interface FormRequest {
  /** The address of the connection. */
  peer: string
  /** The path after `/f`. */
  path: string
  /** A body that has come already, or the request that brings it. */
  body: Uint8Array | Request
}

/** The request's facts about its sender. */
interface RequestSender {
  headers: Pick<Headers, 'get'>
  /** The sender's IP address. */
  address: string
}

/** The end of one request, for its answer and its log line. */
interface EndpointResult {
  answer: EndpointAnswer
  formId?: number
  trapped?: boolean
  spam?: boolean
}

/** Answers every method, and everything after `/f` in the path, with its slash or without. */
export function createFormEndpoint(needs: FormEndpointNeeds) {
  return {
    async answer(request: Request, server: Peer, path: string, domain: RequestDomain): Promise<Response> {
      const { method, headers } = request
      const peer = server.requestIP(request)?.address ?? ''
      const query = /\?([^#]*)/.exec(request.url)?.[1] ?? ''
      const context = {
        ...toContext(needs, headers, domain, readLanguageRequest(request)),
        shape: readAnswerShape(query),
      }
      if (method === 'OPTIONS') return respondToPreflight(context)
      const link = parseLinkPath(path)
      if (link) return toEndpointResponse(await answerMailLink(needs, context, { ...link, method }))
      if (method !== 'POST') return toEndpointResponse(await answerVisitor(needs, context, method, path))
      return toEndpointResponse(await answerPost(needs, context, { body: request, peer, path }))
    },
    /**
     * The same answer for a plain POST that is all there.
     * @returns null where only `answer` can tell; then nothing has happened yet
     */
    tryFastPath(
      { path, query, headers: sent, keep }: PostRequest,
      peer: string,
      domain: RequestDomain,
    ): (() => Promise<FastResponse>) | null {
      if (!FORM_PATH.test(path) || query !== '' || isMultipart(sent)) return null
      const { headers, body } = keep()
      return async () => {
        const turn = waitForTurn()
        if (turn) await turn
        const context = toContext(needs, headers, domain, { acceptLanguage: headers.get('accept-language') })
        return toFastEndpointResponse(
          await answerPost(needs, context, { body, peer, path: path.slice('f'.length) }),
        )
      }
    },
  }
}

/** A form key alone. */
const FORM_PATH = /^f\/[\w-]{1,64}$/

function toContext(
  { toOrigin }: FormEndpointNeeds,
  headers: Pick<Headers, 'get'>,
  domain: RequestDomain,
  language: LanguageRequest,
): RequestContext {
  const id = requestId(headers.get('x-request-id'))
  return { requestId: id, headers, domain, origin: toOrigin(domain.name), language: chooseLanguage(language) }
}

async function answerPost(
  needs: FormEndpointNeeds,
  context: RequestContext,
  request: FormRequest,
): Promise<EndpointAnswer> {
  const started = performance.now()
  const { answer, formId, trapped, spam } = await receivePost(needs, context, request)
  const ms = Math.round((performance.now() - started) * 10) / 10
  // A filled honeypot and spam look like a success to the sender. This log line tells the operator.
  log.info('form_request', { requestId: context.requestId, formId, status: answer.status, trapped, spam, ms })
  return answer
}

/** The page behind a link in a mail to a sender. */
async function answerMailLink(
  needs: FormEndpointNeeds,
  context: RequestContext,
  link: Pick<LinkRequest, 'kind' | 'token' | 'method'>,
): Promise<EndpointAnswer> {
  const { builtIn } = context.language
  const renderThanks: AnswerLinkNeeds['renderThanks'] = ({ successMessage, pageUrl, brand }, language) => {
    const answered = { ...context, language: { ...context.language, builtIn: language } }
    return respondWithThanks(answered, { successMessage, pageUrl: toUsableUrl(needs, pageUrl), brand })
  }
  try {
    return await answerReplyLink(
      { ...needs, links: needs.replyLinks, renderThanks },
      { ...link, language: builtIn, headers: { 'X-Request-Id': context.requestId } },
    )
  } catch (thrown) {
    return respondToError(context, toEndpointError(thrown, context.requestId))
  }
}

/** GET shows people a page: the form's thanks page, or an explanation at the form's own address. */
async function answerVisitor(
  needs: FormEndpointNeeds,
  context: RequestContext,
  method: string,
  path: string,
): Promise<EndpointAnswer> {
  const thanksKey = method === 'GET' || method === 'HEAD' ? parseThanksPath(path) : undefined
  try {
    if (thanksKey !== undefined) {
      const form = await findVisibleForm(needs, context, thanksKey)
      if (!form) throw new EndpointError(404, 'Form not found')
      return await respondWithThanks(context, form, form)
    }
    return await respondToWrongMethod(context, async () => {
      const form = await findVisibleForm(needs, context, parseFormKey(path))
      return { page: parseUrl(form?.pageUrl ?? '') ?? undefined, brand: form?.brand }
    })
  } catch (thrown) {
    return respondToError(context, toEndpointError(thrown, context.requestId))
  }
}

/**
 * A form that may show its texts to strangers. A disabled form still thanks earlier senders; a suspended one does
 * not.
 */
async function findVisibleForm(
  needs: FormEndpointNeeds,
  context: RequestContext,
  key: string,
): Promise<FormSettings | undefined> {
  const form = await findForm(needs, context, key)
  return form && !form.suspended ? withUsableTargets(needs, form) : undefined
}

async function findForm({ db }: FormEndpointNeeds, { domain }: RequestContext, key: string) {
  const form = await findFormSettings(db, key)
  return form && servesWorkspace(domain, form.workspaceId) ? form : undefined
}

async function receivePost(
  needs: FormEndpointNeeds,
  context: RequestContext,
  { body: sent, peer, path }: FormRequest,
): Promise<EndpointResult> {
  const { headers } = context
  let form: FormSettings | undefined
  let files: FileReceiver | undefined
  try {
    const address = readClientAddress(peer, headers.get('x-forwarded-for'), needs.trustProxy)
    form = await getEnabledForm(needs, context, path)
    describeRequest({ workspaceId: form.workspaceId })
    const request = sent instanceof Request ? sent : undefined
    if (request && form.uploads && isMultipart(headers))
      files = createFileReceiver(needs.uploads, form.uploads)
    const declared = files ? 0 : toDeclaredBytes(headers)
    await checkSender(needs, form, { headers, address }, declared)
    const json = isJson(headers.get('content-type'))
    const body =
      request && files
        ? await receiveFiles(needs, form, request, { headers, address }, files)
        : await readBody(sent, headers)
    const { entries, size } = body
    // The rest of a body that did not say its size, and the fields beside files.
    const spending = spendAddressBytes(needs.limiter, address, size - declared)
    if (spending) await spending
    const input = parseFields(entries, { json })
    const asked = { lang: input.language, acceptLanguage: headers.get('accept-language') }
    const language = chooseLanguage(asked, Object.keys(form.messages))
    const at = needs.now()
    const isTest = needs.testTokens.isValid(input.testToken, form.formKey, at)
    const source = {
      at,
      address,
      userAgent: headers.get('user-agent') ?? '',
      referer: headers.get('referer') ?? '',
      // Global Privacy Control (https://w3c.github.io/gpc/): the submission is joined with no visit and no click. Nor is a test.
      trackingOptOut: isTest || headers.get('sec-gpc') === '1',
      isTest,
    }
    const outcome = await submit(needs, form, input, { ...source, size, language, files })
    if (!isTest) countAttempt(needs.attempts, form, outcome)
    const findUsable = withUsableTargets.bind(null, needs, form)
    const { trapped, isSpam } = outcome.kind === 'accepted' ? outcome : {}
    const answered = { ...context, language }
    const answer = await respondToSubmission(answered, findUsable, input, outcome)
    return { answer, formId: form.id, trapped, spam: isSpam || undefined }
  } catch (thrown) {
    const error = toEndpointError(thrown, context.requestId)
    if (form) countRefusedAttempt(needs.attempts, form.id, error)
    return { answer: await respondToError(context, error, form), formId: form?.id }
  } finally {
    await files?.close()
  }
}

/** Reads the body of a form that takes files. @throws EndpointError 400, 413, 415, 429, 503 */
async function receiveFiles(
  needs: FormEndpointNeeds,
  { uploads }: FormSettings,
  request: Request,
  { headers, address }: RequestSender,
  files: FileReceiver,
): Promise<FormBody> {
  requireKnownType(headers)
  const watch = createUploadWatch(needs, address)
  try {
    return await receiveForm(request, headers, uploads as UploadSettings, { files, watch })
  } finally {
    watch.release()
  }
}

/** @throws EndpointError 400, 403, 404 */
async function getEnabledForm(
  needs: FormEndpointNeeds,
  context: RequestContext,
  path: string,
): Promise<FormSettings> {
  const key = parseFormKey(path)
  if (key === '') throw new EndpointError(400, 'Missing form key')
  const form = await findForm(needs, context, key)
  if (!form) throw new EndpointError(404, 'Form not found')
  requireEnabled(form)
  return form
}

/** Checks the rate limit, the address's budget of bytes and the page's origin. @throws EndpointError 403, 429 */
async function checkSender(
  { limiter }: FormEndpointNeeds,
  form: FormSettings,
  { headers, address }: RequestSender,
  declaredBytes: number,
): Promise<void> {
  const taken = limiter.take(`form:${form.id}:${toRateLimitKey(address)}`, form.perAddress)
  const permit = taken instanceof Promise ? await taken : taken
  if (!permit.allowed) {
    throw new EndpointError(429, 'Too many submissions. Please try again later.', RETRY_AFTER_SECONDS)
  }
  const spending = spendAddressBytes(limiter, address, declaredBytes)
  if (spending) await spending
  if (!isOriginAllowed(form.allowedOrigins, headers)) throw new EndpointError(403, 'Origin not allowed')
}

/** A host may be blocked after its URL was stored. The next target in order is used then. */
const withUsableTargets = (needs: FormEndpointNeeds, form: FormSettings): FormSettings => ({
  ...form,
  redirectUrl: toUsableUrl(needs, form.redirectUrl),
  pageUrl: toUsableUrl(needs, form.pageUrl),
})

const toUsableUrl = ({ isBlocked }: FormEndpointNeeds, url: string | null) =>
  url === null || isBlocked(new URL(url)) ? null : url

/** Ignores slashes around the key, because site builders and proxies add them. */
function parseFormKey(path: string): string {
  const text = trimBoth(path, '/')
  try {
    return decodeURIComponent(text)
  } catch {
    // No form key looks like this. The look-up finds no form and answers 404.
    return text
  }
}
