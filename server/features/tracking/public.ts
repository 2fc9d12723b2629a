// POST /e, what the snippet tells: a page that was seen. Open to every page on every site, in front of Hono, and for
// plain requests answered at the socket as redirects are. The answer is the event id that the page keeps for its forms.

import { readClientAddress, toRateLimitKey } from '../../http/client-address.ts'
import { toErrorResponse } from '../../http/error-response.ts'
import type { FastResponse } from '../../http/fast-path/listener.ts'
import type { PostRequest } from '../../http/fast-path/request-parser.ts'
import { readBytes } from '../../http/json-body.ts'
import { requestId } from '../../http/request-id.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import type { Network } from '../../lib/ip-network.ts'
import { randomToken } from '../../lib/random.ts'
import { createSlidingWindows } from '../../lib/sliding-window.ts'
import { toFailure } from '../../storage/database/errors.ts'
import type { ClickIds } from '../hits/click-id.ts'
import { recordPageView } from '../hits/record.ts'
import type { Spool } from '../hits/spool/spool.ts'
import type { EventIds } from './event-id.ts'
import { createPageViewReader, type ParsedPageView } from './page-view.ts'
import { type PageViewBody, parsePageViewBody } from './page-view-body.ts'
import { addPageView, isVisitOver, startVisit } from './visit.ts'
import type { WorkspaceLookup } from './workspace-lookup.ts'

export interface IntakeNeeds {
  /** First segment of the path. */
  path: string
  spool: Pick<Spool, 'append' | 'node'>
  clickIds: Pick<ClickIds, 'verify'>
  eventIds: EventIds
  workspaces: Pick<WorkspaceLookup, 'find' | 'findCached'>
  ownHosts: ReadonlySet<string>
  trustProxy: Network[]
  now: () => number
  /** Monotonic milliseconds for the limit. */
  clock?: () => number
}

type Peer = Pick<ServerHandle, 'requestIP'>

const BODY_MAX = 8 * 1024
/** More than a person opens in a minute; an office behind one address may lose some views beyond it, and no submission. */
const PER_MINUTE = 120
const ADDRESSES_MAX = 20_000

/** An answer, whichever way it goes out. */
interface IntakeAnswer {
  status: number
  /** ASCII. */
  json: string
  headers?: Record<string, string>
}

interface PageViewRequest {
  at: number
  headers: { get(name: string): string | null }
  address: string
}

export function createPageViewIntake(needs: IntakeNeeds) {
  const views = createSlidingWindows({ keysMax: ADDRESSES_MAX, clock: needs.clock })
  const read = createPageViewReader(needs.ownHosts)

  function seenBy(peer: string, headers: PageViewRequest['headers']): PageViewRequest {
    const forwarded = needs.trustProxy.length === 0 ? null : headers.get('x-forwarded-for')
    return { at: needs.now(), headers, address: readClientAddress(peer, forwarded, needs.trustProxy) }
  }

  /** @returns the refusal of one view too many */
  function admit({ address }: PageViewRequest): IntakeAnswer | undefined {
    const limit = views.take(address.includes(':') ? toRateLimitKey(address) : address, PER_MINUTE)
    if (limit.allowed) return undefined
    const seconds = Math.max(1, Math.ceil(limit.waitMs / 1000))
    return toErrorAnswer(429, 'Too many page views', { 'Retry-After': String(seconds) })
  }

  function record(seen: PageViewRequest, told: PageViewBody, workspaceId: number | null): IntakeAnswer {
    if (workspaceId === null) return toErrorAnswer(404, 'Workspace not found')
    const { at } = seen
    const linkOf = (text: string) => needs.clickIds.verify(text, workspaceId)?.linkId
    const view = read({ at, url: told.u, referrer: told.r }, linkOf)
    if (!view) return toErrorAnswer(400, 'u: must be an http or https URL')
    const before = told.e === undefined ? undefined : needs.eventIds.open(told.e, { workspaceId, at })
    if (before && !isVisitOver(before, at)) {
      append(seen, workspaceId, view, 'view')
      return toEventIdAnswer(needs.eventIds.seal(addPageView(before, view)))
    }
    const id = append(seen, workspaceId, view, 'landing')
    // Without a place in the spool, which is full, the visit still needs a name.
    const name = `${id === 0 ? randomToken(6) : id.toString(36)}.${needs.spool.node}`
    return toEventIdAnswer(needs.eventIds.seal(startVisit(view, workspaceId, name)))
  }

  function append(
    seen: PageViewRequest,
    workspaceId: number,
    view: ParsedPageView,
    outcome: 'landing' | 'view',
  ): number {
    const { utm, referrer, touch } = view
    return recordPageView(needs.spool, seen, {
      outcome,
      workspaceId,
      linkId: touch.linkId ?? 0,
      utm,
      referrer,
    })
  }

  async function take(request: Request, seen: PageViewRequest, bounded: boolean): Promise<Response> {
    let text: string | undefined
    try {
      text = bounded ? await request.text() : await boundedText(request)
    } catch {
      // The page has gone in the middle of it: nobody reads this answer.
      return toResponse(toErrorAnswer(400, 'The body is cut off'))
    }
    if (text === undefined) return toResponse(TOO_LARGE)
    const told = parsePageViewBody(text)
    if (typeof told === 'string') return toResponse(toErrorAnswer(400, told))
    try {
      return toResponse(record(seen, told, await needs.workspaces.find(told.w)))
    } catch (error) {
      return toFailureResponse(seen, error)
    }
  }

  return {
    answer(request: Request, server: Peer): Response | Promise<Response> {
      const { method, headers } = request
      if (method === 'OPTIONS') return preflight()
      if (method !== 'POST')
        return toResponse(toErrorAnswer(405, 'Method not allowed', { Allow: 'POST, OPTIONS' }))
      if (isPrivate(headers)) return toResponse(NOT_TRACKED)
      const length = headers.get('content-length')
      if (Number(length ?? 0) > BODY_MAX) return toResponse(TOO_LARGE)
      const seen = seenBy(server.requestIP(request)?.address ?? '', headers)
      const refused = admit(seen)
      return refused ? toResponse(refused) : take(request, seen, length !== null)
    },

    /** The same answer for a plain POST of a workspace that memory knows; else null, and nothing has happened. */
    tryFastPath({ segment, query, headers, ...head }: PostRequest, peer: string): FastResponse | null {
      if (segment !== needs.path || query !== '') return null
      const body = head.body()
      if (body.length > BODY_MAX) return null
      if (isPrivate(headers)) return toReply(NOT_TRACKED)
      const told = parsePageViewBody(body)
      const workspaceId = typeof told === 'string' ? null : needs.workspaces.findCached(told.w)
      if (workspaceId === undefined) return null
      const seen = seenBy(peer, headers)
      return toReply(
        admit(seen) ??
          (typeof told === 'string' ? toErrorAnswer(400, told) : record(seen, told, workspaceId)),
      )
    },
  }
}

/** Global Privacy Control: whoever asks not to be followed is not (https://w3c.github.io/gpc/). */
const isPrivate = (headers: PageViewRequest['headers']) => headers.get('sec-gpc') === '1'

const HEADERS = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After',
  'Cache-Control': 'no-store',
}
const toHeaderLines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
const LINES = toHeaderLines(HEADERS)

/** No character of an event id needs escaping. */
const toEventIdAnswer = (id: string): IntakeAnswer => ({ status: 200, json: `{"e":"${id}"}` })
const NOT_TRACKED: IntakeAnswer = { status: 200, json: '{"e":null}' }

const toErrorAnswer = (status: number, error: string, headers?: Record<string, string>): IntakeAnswer => ({
  status,
  json: JSON.stringify({ error }),
  headers,
})
const TOO_LARGE = toErrorAnswer(413, 'Page view too large')

const toResponse = ({ status, json, headers }: IntakeAnswer) =>
  new Response(json, { status, headers: headers ? { ...HEADERS, ...headers } : HEADERS })

const toReply = ({ status, json, headers }: IntakeAnswer): FastResponse => ({
  status,
  headers: headers ? LINES + toHeaderLines(headers) : LINES,
  body: json,
})

/** For whoever says that it sends JSON; the snippet sends text, which browsers do not ask about. */
const preflight = () =>
  new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'POST, OPTIONS',
      'Access-Control-Allow-Headers': 'Content-Type',
      'Access-Control-Max-Age': '86400',
    },
  })

async function boundedText(request: Request): Promise<string | undefined> {
  const bytes = await readBytes(request, BODY_MAX)
  return bytes && new TextDecoder().decode(bytes)
}

function toFailureResponse({ headers }: PageViewRequest, error: unknown): Response {
  const answer = toErrorResponse(toFailure(error), requestId(headers.get('x-request-id')))
  for (const [name, value] of Object.entries(HEADERS)) answer.headers.set(name, value)
  return answer
}
