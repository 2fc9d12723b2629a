// POST /e: the snippet reports a page view, and the answer is the event id that the page keeps for its forms. Every page
// on every site may send here. The fast path answers plain requests; the others come here before Hono.

import { readClientAddress, toRateLimitKey } from '../../http/client-address.ts'
import type { PostRequest } from '../../http/fast-path/request-parser.ts'
import type { FastResponse } from '../../http/fast-path/response-text.ts'
import { readBytes } from '../../http/json-body.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import { randomToken } from '../../lib/crypto/random.ts'
import type { Network } from '../../lib/ip-network.ts'
import { type RequestDomain, servesWorkspace } from '../../lib/request-domain.ts'
import { createSlidingBudgets } from '../../lib/sliding-budget.ts'
import { createSlidingWindows, WINDOW_MS } from '../../lib/sliding-window.ts'
import type { StorageLimit } from '../accounts/abuse/storage-limit.ts'
import type { ClickIds } from '../hits/click-id.ts'
import { recordPageView } from '../hits/record.ts'
import type { Spool } from '../hits/spool/spool.ts'
import type { OwnHosts } from '../visitors/referrer.ts'
import type { TrafficDirectory } from '../visitors/traffic-directory.ts'
import type { EventIds } from './event-id.ts'
import {
  type IntakeAnswer,
  NOT_TRACKED,
  TOO_LARGE,
  toErrorAnswer,
  toEventIdAnswer,
  toFailureResponse,
  toFastResponse,
  toPreflightResponse,
  toResponse,
} from './intake-answer.ts'
import { createPageViewReader, type PageViewReader, type ParsedPageView } from './page-view.ts'
import { type PageViewBody, parsePageViewBody, type ReportedPage } from './page-view-body.ts'
import {
  createRecordedViews,
  type RecordedView,
  type RecordedViews,
  toRecordedViewKey,
} from './recorded-views.ts'
import { addAdClickIds } from './touch.ts'
import { addPageView, isVisitOver, startVisit, type Visit } from './visit.ts'
import type { WorkspaceLookup } from './workspace-lookup.ts'

export interface IntakeNeeds {
  /** The first segment of the path. */
  path: string
  spool: Pick<Spool, 'append' | 'node'>
  clickIds: Pick<ClickIds, 'verify'>
  eventIds: EventIds
  workspaces: Pick<WorkspaceLookup, 'find' | 'findCached'>
  ownHosts: OwnHosts
  trustProxy: Network[]
  traffic: Pick<TrafficDirectory, 'mark'>
  now: () => number
  /** The page views of a day. */
  pageViewLimit: Pick<StorageLimit, 'take'>
  /** Monotonic milliseconds for the limit. */
  clock?: () => number
}

const BODY_MAX = 8 * 1024
/**
 * Page views per minute and address: more than one person opens. An office behind one address may lose some page views,
 * but never a submission.
 */
const PER_MINUTE = 120
/** These page views with 4 kB each. The snippet sends at most 3 kB. */
const BYTES_PER_MINUTE = PER_MINUTE * 4 * 1024
const ADDRESSES_MAX = 20_000

interface PageViewRequest {
  at: number
  headers: { get(name: string): string | null }
  address: string
  domain: RequestDomain
}

interface State extends IntakeNeeds {
  limits: ReturnType<typeof createSlidingWindows>
  budgets: ReturnType<typeof createSlidingBudgets>
  readPageView: PageViewReader
  recordedViews: RecordedViews
}

export function createPageViewIntake(needs: IntakeNeeds) {
  const state: State = {
    ...needs,
    limits: createSlidingWindows({ keysMax: ADDRESSES_MAX, clock: needs.clock }),
    budgets: createSlidingBudgets({ keysMax: ADDRESSES_MAX, windowMs: WINDOW_MS, clock: needs.clock }),
    readPageView: createPageViewReader(needs.ownHosts),
    recordedViews: createRecordedViews(),
  }
  return {
    answer: (request: Request, server: Pick<ServerHandle, 'requestIP'>, domain: RequestDomain) =>
      answer(state, request, server, domain),
    tryFastPath: (request: PostRequest, peer: string, domain: RequestDomain) =>
      tryFastPath(state, request, peer, domain),
  }
}

function answer(
  state: State,
  request: Request,
  server: Pick<ServerHandle, 'requestIP'>,
  domain: RequestDomain,
): Response | Promise<Response> {
  const { method, headers } = request
  if (method === 'OPTIONS') return toPreflightResponse()
  if (method !== 'POST')
    return toResponse(toErrorAnswer(405, 'Method not allowed', { Allow: 'POST, OPTIONS' }))
  if (refusesTracking(headers)) return toResponse(NOT_TRACKED)
  const length = headers.get('content-length')
  if (Number(length ?? 0) > BODY_MAX) return toResponse(TOO_LARGE)
  const view = toPageViewRequest(state, server.requestIP(request)?.address ?? '', headers, domain)
  const refusal = takeFromLimit(state, view)
  return refusal ? toResponse(refusal) : readAndRecord(state, request, view)
}

/**
 * The same answer for a plain POST from a workspace that is in memory.
 * @returns null where only `answer` can tell; then nothing has been counted or recorded
 */
function tryFastPath(
  state: State,
  { path, query, headers, ...request }: PostRequest,
  peer: string,
  domain: RequestDomain,
): FastResponse | null {
  if (path !== state.path || query !== '') return null
  const text = request.body()
  if (text.length > BODY_MAX) return null
  if (refusesTracking(headers)) return toFastResponse(NOT_TRACKED)
  const body = parsePageViewBody(text)
  const workspaceId = typeof body === 'string' ? null : state.workspaces.findCached(body.w)
  if (workspaceId === undefined) return null
  const view = toPageViewRequest(state, peer, headers, domain)
  return toFastResponse(
    takeFromLimit(state, view) ??
      takeFromBudget(state, view, text) ??
      (typeof body === 'string' ? toErrorAnswer(400, body) : record(state, view, body, workspaceId)),
  )
}

/** Global Privacy Control: the visitor asks not to be tracked (https://w3c.github.io/gpc/). */
const refusesTracking = (headers: PageViewRequest['headers']) => headers.get('sec-gpc') === '1'

function toPageViewRequest(
  { trustProxy, now }: State,
  peer: string,
  headers: PageViewRequest['headers'],
  domain: RequestDomain,
): PageViewRequest {
  const forwarded = trustProxy.length === 0 ? null : headers.get('x-forwarded-for')
  const address = readClientAddress(peer, forwarded, trustProxy)
  return { at: now(), headers, address, domain }
}

const toLimitKey = ({ address }: PageViewRequest) =>
  address.includes(':') ? toRateLimitKey(address) : address

/** @returns the refusal of a page view above the limit */
function takeFromLimit({ limits }: State, view: PageViewRequest): IntakeAnswer | undefined {
  const limit = limits.take(toLimitKey(view), PER_MINUTE)
  return limit.allowed ? undefined : refuse(limit.waitMs)
}

/** @returns the refusal of a page view above the budget of bytes */
function takeFromBudget({ budgets }: State, view: PageViewRequest, body: string): IntakeAnswer | undefined {
  const budget = budgets.spend(toLimitKey(view), body.length, BYTES_PER_MINUTE)
  return budget.allowed ? undefined : refuse(budget.waitMs)
}

const refuse = (waitMs: number) =>
  toErrorAnswer(429, 'Too many page views', { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) })

async function readAndRecord(state: State, request: Request, view: PageViewRequest): Promise<Response> {
  let text: string | undefined
  try {
    text = await readText(request)
  } catch {
    // The page was closed while it sent the body, so nobody reads this answer.
    return toResponse(toErrorAnswer(400, 'The body is cut off'))
  }
  if (text === undefined) return toResponse(TOO_LARGE)
  const body = parsePageViewBody(text)
  if (typeof body === 'string') return toResponse(toErrorAnswer(400, body))
  const refusal = takeFromBudget(state, view, text)
  if (refusal) return toResponse(refusal)
  try {
    return toResponse(record(state, view, body, await state.workspaces.find(body.w)))
  } catch (error) {
    return toFailureResponse(error, view.headers.get('x-request-id'))
  }
}

/** @returns undefined for a body that is too large. (A body with a Content-Length is small enough here.) */
async function readText(request: Request): Promise<string | undefined> {
  if (request.headers.has('content-length')) return request.text()
  const bytes = await readBytes(request, BODY_MAX)
  return bytes && new TextDecoder().decode(bytes)
}

function record(
  state: State,
  view: PageViewRequest,
  body: PageViewBody,
  workspaceId: number | null,
): IntakeAnswer {
  const { at, domain } = view
  if (workspaceId === null || !servesWorkspace(domain, workspaceId))
    return toErrorAnswer(404, 'Workspace not found')
  // Not kept and not forgotten: the tab reports the page view again.
  const room = state.pageViewLimit.take(workspaceId, 1 + body.p.length)
  if (!room.allowed) return refuse(room.waitMs)
  // The earlier pages first: the visit is the one that their answers would have named.
  const pages: VisitedPage[] = []
  for (const reported of [...body.p, body]) {
    const page = readReportedPage(state, workspaceId, reported, at)
    if (!page) return toErrorAnswer(400, 'u: must be an http or https URL')
    pages.push(page)
  }
  let visit = body.e === undefined ? undefined : state.eventIds.open(body.e, { workspaceId, at })
  for (const [index, page] of pages.entries()) {
    // A request is one page view of the limit. Each earlier page that was not counted is one more.
    const isLimited = index < body.p.length && !page.recorded && takeFromLimit(state, view) !== undefined
    visit = addToVisit(state, view, visit, page, isLimited)
  }
  return visit ? toEventIdAnswer(state.eventIds.seal(visit)) : NOT_TRACKED
}

interface VisitedPage {
  workspaceId: number
  page: ParsedPageView
  /** Absent where the snippet sends no ids. */
  key: string | undefined
  /** The first report of the same page view. */
  recorded: RecordedView | undefined
}

/** The time is the server's: that of this report, or of the first report of the same page view. */
function readReportedPage(
  { clickIds, recordedViews, readPageView }: State,
  workspaceId: number,
  { u, r, i }: ReportedPage,
  now: number,
): VisitedPage | undefined {
  const key = i === undefined ? undefined : toRecordedViewKey(workspaceId, i)
  const recorded = key === undefined ? undefined : recordedViews.find(key, now)
  const findLink = (clickId: string) => clickIds.verify(clickId, workspaceId)?.linkId
  const page = readPageView({ at: recorded?.at ?? now, url: u, referrer: r }, findLink)
  return page && { workspaceId, page: addAdClickIds(page, u), key, recorded }
}

/** Adds the page to the visit, or starts a visit with it. Records the page view unless it is recorded. */
function addToVisit(
  state: State,
  view: PageViewRequest,
  visit: Visit | undefined,
  { workspaceId, page, key, recorded }: VisitedPage,
  isLimited: boolean,
): Visit {
  const current = visit && !isVisitOver(visit, page.at) ? visit : undefined
  const record = () => recordHit(state, view, workspaceId, page, current ? 'view' : 'landing')
  const hitId = recorded?.hitId ?? (isLimited ? 0 : record())
  if (key !== undefined && !recorded) state.recordedViews.add(key, { at: view.at, hitId })
  if (current) return addPageView(current, page)
  // A page view without a hit, because the spool is full, needs an id for its visit all the same.
  const visitId = `${hitId === 0 ? randomToken(6) : hitId.toString(36)}.${state.spool.node}`
  return startVisit(page, workspaceId, visitId)
}

/** @returns the id of the hit; 0 where the spool is full */
function recordHit(
  { spool, traffic }: State,
  view: PageViewRequest,
  workspaceId: number,
  { utm, referrer, touch }: ParsedPageView,
  outcome: 'landing' | 'view',
): number {
  const marks = traffic.mark(workspaceId, view)
  return recordPageView(spool, view, {
    outcome,
    workspaceId,
    linkId: touch.linkId ?? 0,
    utm,
    referrer,
    marks,
  })
}
