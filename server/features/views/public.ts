// GET /s/{token}, open to everybody who has the address: the shared page of a view (docs/contract.md §15b).

import { html } from 'hono/html'
import { readClientAddress, toRateLimitKey } from '../../http/client-address.ts'
import { type PageExtras, renderHtmlPage, wantsJson } from '../../http/html-page.ts'
import { readBytes } from '../../http/json-body.ts'
import { pathOf } from '../../http/request-path.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import { checkPassword } from '../../lib/crypto/password.ts'
import { Failure } from '../../lib/failure.ts'
import type { Network } from '../../lib/ip-network.ts'
import { toIso } from '../../lib/iso-time.ts'
import { describeError, log } from '../../lib/log.ts'
import { describeRequest } from '../../lib/telemetry/request-context.ts'
import { toFailure } from '../../storage/database/errors.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { RateLimiter } from '../accounts/access/rate-limiter.ts'
import { readPageBrand } from '../accounts/brand/brand.ts'
import type { LeadContext } from '../analytics/answer-leads.ts'
import { answerSharedView, type SharedAnswer } from './share-page/answer-share.ts'
import { sharedPage } from './share-page/render-share.ts'
import type { SharePass } from './share-page/share-pass.ts'
import { findSharedView, SHARE_PATH, type ViewRow } from './view.ts'

export interface SharedViewNeeds extends LeadContext {
  db: Database
  limiter: Pick<RateLimiter, 'take'>
  trustProxy: Network[]
  pass: SharePass
}

const PASSWORD_TRIES_PER_MINUTE = 5
const PASSWORD_BODY_MAX = 16 * 1024
/** A page is some questions to the hit engine. */
const PAGES_PER_MINUTE = 60
/** From all visitors of a page together. */
const PAGES_OF_ALL_PER_MINUTE = 600

export function createSharedViews(needs: SharedViewNeeds) {
  return async (request: Request, server: Pick<ServerHandle, 'requestIP'>): Promise<Response> => {
    try {
      return await answerRequest(needs, request, server.requestIP(request)?.address ?? '')
    } catch (thrown) {
      const failure = toFailure(thrown)
      if (!(failure instanceof Failure)) throw thrown
      return refuse(request, toRefusal(failure))
    }
  }
}

async function answerRequest(needs: SharedViewNeeds, request: Request, peer: string): Promise<Response> {
  const { db, now, limiter, trustProxy, pass } = needs
  const { method, headers } = request
  if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') return refuse(request, WRONG_METHOD)
  const view = await findSharedView(db.read, pathOf(request.url).slice(SHARE_PATH.length), now())
  if (!view) return refuse(request, NOT_FOUND)
  describeRequest({ workspaceId: view.workspace_id })
  const visitor = toRateLimitKey(readClientAddress(peer, headers.get('x-forwarded-for'), trustProxy))
  const extras = await toExtras(needs, view)
  if (method === 'POST') return answerPassword(needs, request, { view, visitor, extras })
  for (const [key, most] of [
    [`shared view ${view.id}:${visitor}`, PAGES_PER_MINUTE],
    [`shared view ${view.id}`, PAGES_OF_ALL_PER_MINUTE],
  ] as const) {
    const permit = await limiter.take(key, most)
    if (!permit.allowed) return refuse(request, toBusy(permit.waitMs), extras)
  }
  if (view.share_password_hash !== null && !pass.isValid(view, headers.get('cookie'), now()))
    return askPassword(request, extras)
  const answer = await answerSharedView(needs, view, new URL(request.url).searchParams)
  return wantsJson(headers.get('accept')) ? toSharedJson(answer) : sharedPage(answer, extras)
}

/** The figures of a shared page for programs, which may see no more than people with the address. */
function toSharedJson({ name, timezone, totals, metric, time, cards, proof }: SharedAnswer): Response {
  const { start, end, ...counts } = totals
  const data = {
    name,
    timezone,
    start: toIso(start),
    end: toIso(end),
    ...counts,
    metric,
    time: time.map(({ at, count }) => ({ time: toIso(at), count })),
    proof,
    groups: Object.fromEntries(cards.map(({ dimension, rows }) => [dimension, rows])),
  }
  return Response.json({ data }, { headers: { ...PRIVATE, 'Referrer-Policy': 'no-referrer' } })
}

async function toExtras({ db }: SharedViewNeeds, { workspace_id, embed }: ViewRow): Promise<PageExtras> {
  const frames: string[] = JSON.parse(embed)
  return { brand: await readPageBrand(db.read, workspace_id), ...(frames.length > 0 && { frames }) }
}

interface PasswordTry {
  view: ViewRow
  visitor: string
  extras: PageExtras
}

async function answerPassword(
  { limiter, pass, now }: SharedViewNeeds,
  request: Request,
  { view, visitor, extras }: PasswordTry,
): Promise<Response> {
  const Location = new URL(request.url).pathname + new URL(request.url).search
  if (view.share_password_hash === null) return new Response(null, { status: 303, headers: { Location } })
  const permit = await limiter.take(`password of view ${view.id}:${visitor}`, PASSWORD_TRIES_PER_MINUTE)
  if (!permit.allowed) return refuse(request, toBusy(permit.waitMs), extras)
  const bytes = await readBytes(request, PASSWORD_BODY_MAX)
  const password = bytes && new URLSearchParams(new TextDecoder().decode(bytes)).get('password')
  if (!password || !(await checkPassword(password, view.share_password_hash, 'links')))
    return askPassword(request, extras, 'That’s not the password. Try again.')
  const headers = { Location, 'Set-Cookie': pass.issue(view, now()), 'Cache-Control': 'private, no-store' }
  return new Response(null, { status: 303, headers })
}

function askPassword(request: Request, extras: PageExtras, wrong?: string) {
  const status = wrong === undefined ? 401 : 403
  if (wantsJson(request.headers.get('accept')))
    return Response.json({ error: wrong ?? 'This page has a password' }, { status, headers: PRIVATE })
  return renderHtmlPage(
    wrong === undefined ? 200 : status,
    'Password needed',
    html`<h1>Password needed</h1>
<p>These figures are protected. Enter the password to see them.</p>
${wrong === undefined ? '' : html`<p role="alert" id="wrong">${wrong}</p>`}
<form method="post" autocomplete="off">
<label for="password">Password</label>
<input id="password" name="password" type="password" required autofocus maxlength="256" autocomplete="off"${wrong === undefined ? '' : html` aria-invalid="true" aria-describedby="wrong"`}>
<button>Show the figures</button>
</form>`,
    {},
    extras,
  )
}

const PRIVATE = { 'X-Robots-Tag': 'noindex', 'Cache-Control': 'private, no-store' }

interface Refusal {
  status: number
  title: string
  text: string
  errors?: Record<string, string>
  headers?: Record<string, string>
}

const NOT_FOUND: Refusal = {
  status: 404,
  title: 'Page not found',
  text: 'There are no shared figures at this address, or they are no longer shared. Ask the person who sent it to you.',
}
const WRONG_METHOD: Refusal = {
  status: 405,
  title: 'Method not allowed',
  text: 'A shared page can only be opened with GET or HEAD.',
  headers: { Allow: 'GET, HEAD, POST' },
}

function toBusy(waitMs: number): Refusal {
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1000)))
  const text = 'Too many tries. Please wait a minute.'
  return { status: 429, title: 'Please wait', text, headers: { 'Retry-After': seconds } }
}

/** @throws what is no fault of the visitor and no store that is away */
function toRefusal(failure: Failure): Refusal {
  const { code, message, detail } = failure
  if (code === 'invalid')
    return { status: 422, title: 'These figures cannot be shown', text: message, errors: detail.errors }
  if (code !== 'unavailable') throw failure
  log.error('store_unavailable', describeError(detail.cause))
  return {
    status: 503,
    title: 'Please try again in a moment',
    text: 'The figures cannot be read right now.',
    headers: { 'Retry-After': String(detail.retryAfter ?? 5) },
  }
}

function refuse(
  request: Request,
  { status, title, text, errors, headers = {} }: Refusal,
  extras: PageExtras = {},
) {
  if (wantsJson(request.headers.get('accept')))
    return Response.json(
      { error: status === 404 ? title : text, ...(errors && { errors }) },
      { status, headers: { ...PRIVATE, ...headers } },
    )
  return renderHtmlPage(status, title, html`<h1>${title}</h1>\n<p>${text}</p>`, headers, extras)
}
