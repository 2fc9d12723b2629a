// POST /e, what the snippet tells: a page that was seen. Open to every page on every site, in front of Hono, and for
// plain requests answered at the socket as redirects are. The answer is the event id that the page keeps for its forms.

import { answerFailure } from '../../http/answer.ts'
import { clientAddress, limitKey } from '../../http/client-address.ts'
import type { Reply } from '../../http/front.ts'
import { readBytes } from '../../http/json-body.ts'
import type { Peers } from '../../http/peers.ts'
import type { PostHead } from '../../http/request-head.ts'
import { requestId } from '../../http/request-id.ts'
import type { Network } from '../../lib/cidr.ts'
import { randomToken } from '../../lib/random.ts'
import { slidingWindows } from '../../lib/sliding-window.ts'
import { asFailure } from '../../storage/rows/errors.ts'
import type { ClickIds } from '../hits/click-id.ts'
import { recordView } from '../hits/record.ts'
import type { Spool } from '../hits/spool.ts'
import type { EventIds } from './event-id.ts'
import { readTold, type Told } from './told.ts'
import { type ReadView, readViews } from './view.ts'
import { isOver, newVisit, nextView } from './visit.ts'
import type { WorkspaceNames } from './workspace-names.ts'

export interface IntakeNeeds {
  /** First segment of the path. */
  path: string
  spool: Pick<Spool, 'append' | 'node'>
  clickIds: Pick<ClickIds, 'read'>
  eventIds: EventIds
  workspaces: Pick<WorkspaceNames, 'find' | 'known'>
  ownHosts: ReadonlySet<string>
  trustProxy: Network[]
  now: () => number
  /** Monotonic milliseconds for the limit. */
  clock?: () => number
}

type Peer = Pick<Peers, 'requestIP'>

const BODY_MAX = 8 * 1024
/** More than a person opens in a minute; an office behind one address may lose some views beyond it, and no submission. */
const PER_MINUTE = 120
const ADDRESSES_MAX = 20_000

/** An answer, whichever way it goes out. */
interface Said {
  status: number
  /** ASCII. */
  json: string
  headers?: Record<string, string>
}

interface Seen {
  at: number
  headers: { get(name: string): string | null }
  address: string
}

export function intake(needs: IntakeNeeds) {
  const views = slidingWindows({ keysMax: ADDRESSES_MAX, clock: needs.clock })
  const read = readViews(needs.ownHosts)

  function seenBy(peer: string, headers: Seen['headers']): Seen {
    const forwarded = needs.trustProxy.length === 0 ? null : headers.get('x-forwarded-for')
    return { at: needs.now(), headers, address: clientAddress(peer, forwarded, needs.trustProxy) }
  }

  /** @returns the refusal of one view too many */
  function admit({ address }: Seen): Said | undefined {
    const limit = views.take(address.includes(':') ? limitKey(address) : address, PER_MINUTE)
    if (limit.allowed) return undefined
    const seconds = Math.max(1, Math.ceil(limit.waitMs / 1000))
    return refusal(429, 'Too many page views', { 'Retry-After': String(seconds) })
  }

  function record(seen: Seen, told: Told, workspaceId: number | null): Said {
    if (workspaceId === null) return refusal(404, 'Workspace not found')
    const { at } = seen
    const linkOf = (text: string) => needs.clickIds.read(text, workspaceId)?.linkId
    const view = read({ at, url: told.u, referrer: told.r }, linkOf)
    if (!view) return refusal(400, 'u: must be an http or https URL')
    const before = told.e === undefined ? undefined : needs.eventIds.open(told.e, { workspaceId, at })
    if (before && !isOver(before, at)) {
      append(seen, workspaceId, view, 'view')
      return eventId(needs.eventIds.seal(nextView(before, view)))
    }
    const id = append(seen, workspaceId, view, 'landing')
    // Without a place in the spool, which is full, the visit still needs a name.
    const name = `${id === 0 ? randomToken(6) : id.toString(36)}.${needs.spool.node}`
    return eventId(needs.eventIds.seal(newVisit(view, workspaceId, name)))
  }

  function append(seen: Seen, workspaceId: number, view: ReadView, outcome: 'landing' | 'view'): number {
    const { utm, referrer, touch } = view
    return recordView(needs.spool, seen, { outcome, workspaceId, linkId: touch.linkId ?? 0, utm, referrer })
  }

  async function take(request: Request, seen: Seen, bounded: boolean): Promise<Response> {
    let text: string | undefined
    try {
      text = bounded ? await request.text() : await boundedText(request)
    } catch {
      // The page has gone in the middle of it: nobody reads this answer.
      return respond(refusal(400, 'The body is cut off'))
    }
    if (text === undefined) return respond(TOO_LARGE)
    const told = readTold(text)
    if (typeof told === 'string') return respond(refusal(400, told))
    try {
      return respond(record(seen, told, await needs.workspaces.find(told.w)))
    } catch (error) {
      return failed(seen, error)
    }
  }

  return {
    answer(request: Request, server: Peer): Response | Promise<Response> {
      const { method, headers } = request
      if (method === 'OPTIONS') return preflight()
      if (method !== 'POST') return respond(refusal(405, 'Method not allowed', { Allow: 'POST, OPTIONS' }))
      if (isPrivate(headers)) return respond(NOTHING)
      const length = headers.get('content-length')
      if (Number(length ?? 0) > BODY_MAX) return respond(TOO_LARGE)
      const seen = seenBy(server.requestIP(request)?.address ?? '', headers)
      const refused = admit(seen)
      return refused ? respond(refused) : take(request, seen, length !== null)
    },

    /** The same answer for a plain POST of a workspace that memory knows; else null, and nothing has happened. */
    quickly({ segment, query, headers, ...head }: PostHead, peer: string): Reply | null {
      if (segment !== needs.path || query !== '') return null
      const body = head.body()
      if (body.length > BODY_MAX) return null
      if (isPrivate(headers)) return reply(NOTHING)
      const told = readTold(body)
      const workspaceId = typeof told === 'string' ? null : needs.workspaces.known(told.w)
      if (workspaceId === undefined) return null
      const seen = seenBy(peer, headers)
      return reply(
        admit(seen) ?? (typeof told === 'string' ? refusal(400, told) : record(seen, told, workspaceId)),
      )
    },
  }
}

/** Global Privacy Control: whoever asks not to be followed is not (https://w3c.github.io/gpc/). */
const isPrivate = (headers: Seen['headers']) => headers.get('sec-gpc') === '1'

const HEADERS = {
  'Content-Type': 'application/json',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After',
  'Cache-Control': 'no-store',
}
const linesOf = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
const LINES = linesOf(HEADERS)

/** No character of an event id needs escaping. */
const eventId = (id: string): Said => ({ status: 200, json: `{"e":"${id}"}` })
const NOTHING: Said = { status: 200, json: '{"e":null}' }

const refusal = (status: number, error: string, headers?: Record<string, string>): Said => ({
  status,
  json: JSON.stringify({ error }),
  headers,
})
const TOO_LARGE = refusal(413, 'Page view too large')

const respond = ({ status, json, headers }: Said) =>
  new Response(json, { status, headers: headers ? { ...HEADERS, ...headers } : HEADERS })

const reply = ({ status, json, headers }: Said): Reply => ({
  status,
  headers: headers ? LINES + linesOf(headers) : LINES,
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

function failed({ headers }: Seen, error: unknown): Response {
  const answer = answerFailure(asFailure(error), requestId(headers.get('x-request-id')))
  for (const [name, value] of Object.entries(HEADERS)) answer.headers.set(name, value)
  return answer
}
