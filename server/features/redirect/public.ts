// GET /{slug}, the path everything exists for: look up, decide, record, answer. A native route in front of Hono,
// without a promise where memory knows the link.

import { isbot } from 'isbot'
import { clientAddress, limitKey } from '../../http/client-address.ts'
import { readBytes } from '../../http/json-body.ts'
import type { Network } from '../../lib/cidr.ts'
import { Failure } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import { slidingWindows } from '../../lib/sliding-window.ts'
import { deviceForTargeting, isPrefetch } from '../../lib/user-agent.ts'
import type { Geo } from '../../storage/geo.ts'
import type { Rows } from '../../storage/rows/open.ts'
import type { ClickIds } from '../hits/click-id.ts'
import { recordHit } from '../hits/record.ts'
import type { Spool } from '../hits/spool.ts'
import type { CachedLink, LinkCache } from '../links/cache.ts'
import { type Site, shortUrl } from '../links/link.ts'
import { checkPassword } from '../links/password.ts'
import { resolveLink } from '../links/resolve.ts'
import { hasClicksLeft, useClick } from '../links/use-click.ts'
import { type Choice, chooseDestination, type Visit, withClickId } from './destination.ts'
import { gonePage, methodPage, missingPage, passwordPage, previewPage, unavailablePage } from './pages.ts'

export interface RedirectNeeds {
  rows: Rows
  cache: LinkCache
  site: Site
  spool: Pick<Spool, 'append'>
  clickIds: ClickIds
  /** Opened when the first link with country rules is visited: the database takes 8 MB. */
  geo: () => Geo
  trustProxy: Network[]
  now: () => number
}

type Answer = Response | Promise<Response>
type Peer = { requestIP(request: Request): { address: string } | null }

const PASSWORD_BODY_MAX = 16 * 1024
const PASSWORD_TRIES_PER_MINUTE = 5

/** @returns the handler for a slug as the URL has it, decoded */
export function shortLinks(needs: RedirectNeeds) {
  const tries = slidingWindows()

  function addressOf(request: Request, server: Peer): string {
    const peer = server.requestIP(request)?.address ?? ''
    if (needs.trustProxy.length === 0) return clientAddress(peer, null, needs.trustProxy)
    return clientAddress(peer, request.headers.get('x-forwarded-for'), needs.trustProxy)
  }

  function visitOf(request: Request, link: CachedLink, at: number, query: string, address: string): Visit {
    return {
      at,
      query,
      device: deviceForTargeting(link.deviceTargeting ? (request.headers.get('user-agent') ?? '') : ''),
      country: link.geoTargeting ? needs.geo().lookup(address).country : null,
      unlocked: false,
      clicksUsedUp: false,
      schemes: needs.site.schemes,
    }
  }

  /** One place that records and answers, whatever was chosen. */
  function answer(seen: Seen, link: CachedLink | null, choice: Choice): Answer {
    const { request, at, query, address, slug } = seen
    const url = choice.kind === 'go' ? choice.url : undefined
    const id = recordHit(
      needs.spool,
      { at, method: request.method, headers: request.headers, address, query },
      link
        ? { outcome: choice.outcome, workspaceId: link.workspaceId, linkId: link.id, destination: url }
        : { outcome: choice.outcome, workspaceId: 0, linkId: 0, slug },
    )
    if (choice.kind === 'go') {
      const location =
        choice.addClickId && id > 0 ? withClickId(choice.url, needs.clickIds.write(id)) : choice.url
      // After a form the browser must GET: 307 and 308 would send the password on to the destination.
      const status = request.method === 'POST' ? 303 : choice.status
      return new Response(null, {
        status,
        headers: { Location: location, 'Cache-Control': 'private, no-store' },
      })
    }
    const accept = request.headers.get('accept')
    if (choice.kind === 'gone') return gonePage(accept)
    return choice.kind === 'password' ? passwordPage(200) : missingPage(accept)
  }

  async function answerWithLimit(seen: Seen, link: CachedLink, visit: Visit): Promise<Response> {
    // Decided first without the limit: a visitor who meets a password or the end uses up nothing.
    const open = chooseDestination(link, visit)
    if (open.kind !== 'go' || open.outcome !== 'redirect') return answer(seen, link, open)
    const left = isHuman(seen.request)
      ? await useClick(needs.rows, link)
      : await hasClicksLeft(needs.rows, link)
    return answer(seen, link, chooseDestination(link, { ...visit, clicksUsedUp: !left }))
  }

  function answerLink(seen: Seen, link: CachedLink | null): Answer {
    if (!link) return answer(seen, null, MISSING)
    if (seen.request.method === 'POST') return answerPassword(seen, link)
    const visit = visitOf(seen.request, link, seen.at, seen.query, seen.address)
    if (link.clickLimit !== null) return answerWithLimit(seen, link, visit)
    return answer(seen, link, chooseDestination(link, visit))
  }

  async function answerPassword(seen: Seen, link: CachedLink): Promise<Response> {
    const visit = visitOf(seen.request, link, seen.at, seen.query, seen.address)
    if (chooseDestination(link, visit).kind !== 'password' || link.passwordHash === null) {
      return methodPage(seen.request.headers.get('accept'))
    }
    const taken = tries.take(`${link.id} ${limitKey(seen.address)}`, PASSWORD_TRIES_PER_MINUTE)
    if (!taken.allowed) {
      const seconds = Math.max(1, Math.ceil(taken.waitMs / 1000))
      return passwordPage(429, `Too many tries. Please wait ${seconds} seconds.`, {
        'Retry-After': String(seconds),
      })
    }
    const password = await givenPassword(seen.request)
    if (password === undefined || !(await checkPassword(password, link.passwordHash))) {
      return passwordPage(403, 'That is not the password. Please try again.')
    }
    const unlocked = { ...visit, unlocked: true }
    if (link.clickLimit !== null) return answerWithLimit(seen, link, unlocked)
    return answer(seen, link, chooseDestination(link, unlocked))
  }

  function preview(seen: Seen, link: CachedLink | null): Answer {
    const choice = link
      ? chooseDestination(link, visitOf(seen.request, link, seen.at, '', seen.address))
      : MISSING
    if (!link || choice.kind === 'missing' || choice.kind === 'gone') return answer(seen, link, choice)
    const asked = { at: seen.at, method: seen.request.method, headers: seen.request.headers }
    recordHit(
      needs.spool,
      { ...asked, address: seen.address, query: seen.query },
      { outcome: 'preview', workspaceId: link.workspaceId, linkId: link.id },
    )
    const shown = choice.kind === 'go' ? choice.url : null
    return previewPage(link, shortUrl(needs.site, { domain: '', slug: link.slug }), shown)
  }

  function failed(request: Request, error: unknown): Answer {
    const away = error instanceof Failure && error.code === 'unavailable'
    log.error(
      away ? 'redirect_unavailable' : 'redirect_failed',
      describeError(away ? error.detail.cause : error),
    )
    return unavailablePage(request.headers.get('accept'), (away && error.detail.retryAfter) || 5)
  }

  return (request: Request, server: Peer, slug: string): Answer => {
    const { method } = request
    if (method !== 'GET' && method !== 'HEAD' && method !== 'POST') {
      return methodPage(request.headers.get('accept'))
    }
    const looksAhead = slug.endsWith('+') && method !== 'POST'
    const name = looksAhead ? slug.slice(0, -1) : slug
    const seen = {
      request,
      at: needs.now(),
      query: queryOf(request.url),
      address: addressOf(request, server),
      slug,
    }
    const respond = (link: CachedLink | null) => (looksAhead ? preview(seen, link) : answerLink(seen, link))
    try {
      const found = resolveLink(needs, '', name)
      const answered = found instanceof Promise ? found.then(respond) : respond(found)
      return answered instanceof Promise ? answered.catch((error) => failed(request, error)) : answered
    } catch (error) {
      return failed(request, error)
    }
  }
}

interface Seen {
  request: Request
  at: number
  query: string
  address: string
  slug: string
}

const MISSING: Choice = { kind: 'missing', rule: 'unknown', outcome: 'missing' }

function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

function isHuman({ method, headers }: Request): boolean {
  const userAgent = headers.get('user-agent') ?? ''
  if (method === 'HEAD' || userAgent.trim() === '' || isbot(userAgent)) return false
  return !isPrefetch((name) => headers.get(name))
}

async function givenPassword(request: Request): Promise<string | undefined> {
  const bytes = await readBytes(request, PASSWORD_BODY_MAX)
  return bytes
    ? (new URLSearchParams(new TextDecoder().decode(bytes)).get('password') ?? undefined)
    : undefined
}
