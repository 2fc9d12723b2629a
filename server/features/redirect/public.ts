// GET /{slug}, the path everything exists for: look up, decide, record, answer. Without a promise where memory knows the
// link; and for the plain requests that most visitors make, without a request object either.

import { isbot } from 'isbot'
import { readClientAddress, toRateLimitKey } from '../../http/client-address.ts'
import type { FastRedirect } from '../../http/fast-path/listener.ts'
import type { RequestHead } from '../../http/fast-path/request-parser.ts'
import { readBytes } from '../../http/json-body.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import { Failure } from '../../lib/failure.ts'
import type { Network } from '../../lib/ip-network.ts'
import { describeError, log } from '../../lib/log.ts'
import { checkPassword } from '../../lib/password.ts'
import { createSlidingWindows } from '../../lib/sliding-window.ts'
import { deviceForTargeting, isPrefetch } from '../../lib/user-agent.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { GeoLookup } from '../../storage/geo.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import type { ClickIds } from '../hits/click-id.ts'
import { type HitRequest, recordHit } from '../hits/record.ts'
import type { Spool } from '../hits/spool/spool.ts'
import type { CachedLink, LinkCache } from '../links/cache.ts'
import { type Site, toShortUrl } from '../links/link.ts'
import { resolveLink } from '../links/resolve.ts'
import { toSlugKey } from '../links/slug.ts'
import { hasClicksLeft, useClick } from '../links/use-click.ts'
import {
  chooseDestination,
  type DestinationChoice,
  type RedirectContext,
  withClickId,
} from './destination.ts'
import {
  gonePage,
  methodNotAllowedPage,
  notFoundPage,
  passwordPage,
  previewPage,
  unavailablePage,
} from './pages.ts'

export interface RedirectNeeds {
  db: Database
  cache: LinkCache
  site: Site
  spool: Pick<Spool, 'append'>
  clickIds: ClickIds
  /** Opened when the first link with country rules is visited: the database takes 8 MB. */
  geo: () => GeoLookup
  trustProxy: Network[]
  now: () => number
}

type Answer = Response | Promise<Response>
type Peer = Pick<ServerHandle, 'requestIP'>

const PASSWORD_BODY_MAX = 16 * 1024
const PASSWORD_TRIES_PER_MINUTE = 5

export function createRedirects(needs: RedirectNeeds) {
  const tries = createSlidingWindows()

  function addressOf(peer: string, headers: VisitorRequest['headers']): string {
    const forwarded = needs.trustProxy.length === 0 ? null : headers.get('x-forwarded-for')
    return readClientAddress(peer, forwarded, needs.trustProxy)
  }

  function visitOf(seen: VisitorRequest, link: CachedLink, unlocked: boolean): RedirectContext {
    return {
      at: seen.at,
      query: seen.looksAhead ? '' : seen.query,
      device: link.deviceTargeting ? deviceForTargeting(seen.headers.get('user-agent') ?? '') : 'desktop',
      country: link.geoTargeting ? needs.geo().findPlace(seen.address).country : null,
      unlocked,
      clicksUsedUp: false,
      schemes: needs.site.schemes,
    }
  }

  function decide(
    seen: VisitorRequest,
    link: CachedLink,
    unlocked = false,
  ): DestinationChoice | Promise<DestinationChoice> {
    const visit = visitOf(seen, link, unlocked)
    const open = chooseDestination(link, visit)
    const limited = link.clickLimit !== null && (open.outcome === 'redirect' || open.outcome === 'password')
    return limited ? decideWithLimit(seen, link, visit, open) : open
  }

  /** Only a person who is let through uses up a click. */
  async function decideWithLimit(
    seen: VisitorRequest,
    link: CachedLink,
    visit: RedirectContext,
    open: DestinationChoice,
  ): Promise<DestinationChoice> {
    const passes = open.outcome === 'redirect' && !seen.looksAhead && isHuman(seen)
    const left = passes ? await useClick(needs.db, link) : await hasClicksLeft(needs.db, link)
    return left ? open : chooseDestination(link, { ...visit, clicksUsedUp: true })
  }

  /** The one place that records, whatever the answer is. */
  function record(
    seen: VisitorRequest,
    link: CachedLink | null,
    outcome: HitOutcome,
    destination?: string,
  ): number {
    return recordHit(
      needs.spool,
      seen,
      link
        ? { outcome, workspaceId: link.workspaceId, linkId: link.id, destination }
        : { outcome, workspaceId: 0, linkId: 0, slug: seen.slug },
    )
  }

  function answer(seen: VisitorRequest, link: CachedLink | null, choice: DestinationChoice): Answer {
    const shown = seen.looksAhead && link && (choice.kind === 'go' || choice.kind === 'password')
    if (shown) return preview(seen, link, choice.kind === 'go' ? choice.url : null)
    if (choice.kind !== 'go') {
      record(seen, link, choice.outcome)
      const accept = seen.headers.get('accept')
      if (choice.kind === 'gone') return gonePage(accept)
      return choice.kind === 'password' ? passwordPage(200) : notFoundPage(accept)
    }
    const Location = recordAndLocate(seen, link, choice)
    // After a form the browser must GET: 307 and 308 would send the password on to the destination.
    const status = seen.method === 'POST' ? 303 : choice.status
    return new Response(null, { status, headers: { Location, 'Cache-Control': 'private, no-store' } })
  }

  function recordAndLocate(seen: VisitorRequest, link: CachedLink | null, choice: GoChoice): string {
    const id = record(seen, link, choice.outcome, choice.url)
    if (!choice.addClickId || !link || id === 0) return choice.url
    const { id: linkId, workspaceId } = link
    return withClickId(choice.url, needs.clickIds.sign({ id, linkId, workspaceId }))
  }

  function preview(seen: VisitorRequest, link: CachedLink, destination: string | null): Answer {
    record(seen, link, 'preview')
    return previewPage(link, toShortUrl(needs.site, { domain: '', slug: link.slug }), destination)
  }

  function answerLink(seen: VisitorRequest, link: CachedLink | null, request: Request): Answer {
    if (!link) return answer(seen, null, MISSING)
    if (seen.method === 'POST') return answerPassword(seen, link, request)
    const choice = decide(seen, link)
    return choice instanceof Promise
      ? choice.then((decided) => answer(seen, link, decided))
      : answer(seen, link, choice)
  }

  async function answerPassword(seen: VisitorRequest, link: CachedLink, request: Request): Promise<Response> {
    if (link.passwordHash === null) return methodNotAllowedPage(seen.headers.get('accept'))
    const locked = await decide(seen, link)
    // Closed since the page was shown.
    if (locked.kind !== 'password') return answer(seen, link, locked)
    const taken = tries.take(`${link.id} ${toRateLimitKey(seen.address)}`, PASSWORD_TRIES_PER_MINUTE)
    if (!taken.allowed) {
      const seconds = Math.max(1, Math.ceil(taken.waitMs / 1000))
      return passwordPage(429, `Too many tries. Please wait ${seconds} seconds.`, {
        'Retry-After': String(seconds),
      })
    }
    const password = await readPassword(request)
    if (password === undefined || !(await checkPassword(password, link.passwordHash))) {
      record(seen, link, 'password')
      return passwordPage(403, 'That is not the password. Please try again.')
    }
    return answer(seen, link, await decide(seen, link, true))
  }

  function failed(seen: VisitorRequest, error: unknown): Answer {
    const away = error instanceof Failure && error.code === 'unavailable'
    log.error(
      away ? 'redirect_unavailable' : 'redirect_failed',
      describeError(away ? error.detail.cause : error),
    )
    return unavailablePage(seen.headers.get('accept'), (away && error.detail.retryAfter) || 5)
  }

  return {
    /** @param slug as the URL has it, decoded */
    answer(request: Request, server: Peer, slug: string): Answer {
      // Each is made anew, or copied, whenever it is asked for: once.
      const { method, headers } = request
      if (method !== 'GET' && method !== 'HEAD' && method !== 'POST')
        return methodNotAllowedPage(headers.get('accept'))
      const looksAhead = method !== 'POST' && slug.endsWith('+')
      const address = addressOf(server.requestIP(request)?.address ?? '', headers)
      const query = readQuery(request.url)
      const seen = { method, headers, at: needs.now(), query, address, slug, looksAhead }
      try {
        const found = resolveLink(needs, '', looksAhead ? slug.slice(0, -1) : slug)
        const answered =
          found instanceof Promise
            ? found.then((link) => answerLink(seen, link, request))
            : answerLink(seen, found, request)
        return answered instanceof Promise ? answered.catch((error) => failed(seen, error)) : answered
      } catch (error) {
        return failed(seen, error)
      }
    },

    /**
     * The same answer for a plain GET, where it is a redirect and nothing must be waited for; else null, and nothing
     * was recorded.
     */
    tryFastPath({ segment: slug, query, headers }: RequestHead, peer: string): FastRedirect | null {
      const link = needs.cache.get('', toSlugKey(slug))
      if (!link || link.clickLimit !== null || link.passwordHash !== null) return null
      const address = addressOf(peer, headers)
      const seen = { method: 'GET', headers, at: needs.now(), query, address, slug, looksAhead: false }
      const choice = chooseDestination(link, visitOf(seen, link, false))
      if (choice.kind !== 'go' || !HEADER_SAFE.test(choice.url)) return null
      return { status: choice.status, location: recordAndLocate(seen, link, choice) }
    },
  }
}

type GoChoice = Extract<DestinationChoice, { kind: 'go' }>

/** What may stand in a header as it is. */
const HEADER_SAFE = /^[!-~]+$/

/** What a request says, read once. */
interface VisitorRequest extends HitRequest {
  slug: string
  /** The slug ended with `+`: the visitor wants to see where the link leads. */
  looksAhead: boolean
}

const MISSING: DestinationChoice = { kind: 'missing', rule: 'unknown', outcome: 'missing' }

function readQuery(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

function isHuman({ method, headers }: VisitorRequest): boolean {
  const userAgent = headers.get('user-agent') ?? ''
  if (method === 'HEAD' || userAgent.trim() === '' || isbot(userAgent)) return false
  return !isPrefetch((name) => headers.get(name))
}

async function readPassword(request: Request): Promise<string | undefined> {
  const bytes = await readBytes(request, PASSWORD_BODY_MAX)
  return bytes
    ? (new URLSearchParams(new TextDecoder().decode(bytes)).get('password') ?? undefined)
    : undefined
}
