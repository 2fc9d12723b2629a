// GET /{slug}, the path everything exists for: find the link, choose the answer, record the hit, answer. A link that
// the cache holds is answered without a promise. A plain GET, which most visitors send, also needs no Request object.

import { readClientAddress, toRateLimitKey } from '../../http/client-address.ts'
import type { RequestHead } from '../../http/fast-path/request-parser.ts'
import type { FastRedirect } from '../../http/fast-path/response-text.ts'
import { readBytes } from '../../http/json-body.ts'
import { pathOf } from '../../http/request-path.ts'
import type { ServerHandle } from '../../http/server-handle.ts'
import { checkPassword } from '../../lib/crypto/password.ts'
import { Failure } from '../../lib/failure.ts'
import type { Network } from '../../lib/ip-network.ts'
import { describeError, log } from '../../lib/log.ts'
import { percentDecode } from '../../lib/text.ts'
import { toShortUrl } from '../../lib/web-url.ts'
import type { Database } from '../../storage/database/open-database.ts'
import type { HitOutcome } from '../../storage/hits/hit.ts'
import type { RateLimiter } from '../accounts/access/rate-limiter.ts'
import { readPageBrand } from '../accounts/brand/brand.ts'
import type { ClickIds } from '../hits/click-id.ts'
import type { KeptValues } from '../hits/kept-values.ts'
import type { MissCounter } from '../hits/misses/miss-counter.ts'
import { recordHit } from '../hits/record.ts'
import type { Spool } from '../hits/spool/spool.ts'
import type { CachedLink, LinkCache } from '../links/cache.ts'
import type { ShortDomain } from '../links/names/domain-directory.ts'
import { answersOn, resolveLink } from '../links/resolve.ts'
import {
  findShorterSlugs,
  isPossibleSlug,
  isReserved,
  readRequestedSlug,
  SEGMENTS_MAX,
  toSlugKey,
} from '../links/slug.ts'
import { extractKeptParams } from '../visitors/kept-params.ts'
import { cardPage } from './card-page.ts'
import {
  type ChoiceNeeds,
  chooseForVisitor,
  isHuman,
  markVisitor,
  toRedirectContext,
  type VisitorRequest,
} from './choose-for-visitor.ts'
import { chooseDestination, type DestinationChoice, withClickId } from './destination.ts'
import { toDomainTarget } from './domain-target.ts'
import {
  type AbuseReport,
  blockedPage,
  domainPage,
  gonePage,
  methodNotAllowedPage,
  notFoundPage,
  type PreviewStats,
  passwordPage,
  previewPage,
  unavailablePage,
} from './pages.ts'
import { isUnfurler } from './unfurlers.ts'

export interface RedirectNeeds extends ChoiceNeeds {
  db: Database
  /** Limits password guesses, per link and address. */
  limiter: Pick<RateLimiter, 'take'>
  cache: LinkCache
  spool: Pick<Spool, 'append'>
  misses: Pick<MissCounter, 'count'>
  clickIds: ClickIds
  keptValues: KeptValues
  trustProxy: Network[]
  now: () => number
  /**
   * Renders the statistics on the preview page of a link that has them.
   * @throws Failure `unavailable` when nothing can be counted
   */
  renderStats(link: Pick<CachedLink, 'id' | 'workspaceId'>): Promise<PreviewStats>
  /** The operator's address for reports of links. */
  abuseEmail?: string
}

type Answer = Response | Promise<Response>
type Peer = Pick<ServerHandle, 'requestIP'>
type GoChoice = Extract<DestinationChoice, { kind: 'go' }>

const PASSWORD_BODY_MAX = 16 * 1024
const PASSWORD_TRIES_PER_MINUTE = 5

/** Matches a URL that can stand in a header as it is: visible ASCII only. */
const HEADER_SAFE = /^[!-~]+$/

const NOT_FOUND: DestinationChoice = { kind: 'notFound', rule: 'unknown', outcome: 'missing' }

export function createRedirects(state: RedirectNeeds) {
  return {
    /** @returns null for a path that no link of the domain can have, because something else answers below it */
    answer(request: Request, server: Peer, domain: ShortDomain): Answer | null {
      const slug = readRequestedSlug(pathOf(request.url))
      if (isReserved(state.site, domain.name, slug)) return null
      return answerRequest(state, request, server, domain, slug)
    },

    /** The address of a workspace's domain without a slug. */
    answerRoot: (request: Request, domain: ShortDomain): Answer => answerRoot(state, request, domain),

    /**
     * Answers a plain GET like `answer`, when the answer is a redirect that needs no wait.
     * @returns null in every other case, with nothing recorded
     */
    tryFastPath: (head: RequestHead, peer: string, domain: ShortDomain): FastRedirect | null =>
      tryFastPath(state, head, peer, domain),
  }
}

function answerRequest(
  state: RedirectNeeds,
  request: Request,
  server: Peer,
  domain: ShortDomain,
  slug: string,
): Answer {
  // The runtime builds each of these anew on every read, so this function reads each of them once.
  const { method, headers } = request
  const isPreview = isReading(method) && slug.endsWith('+')
  const address = readAddress(state, server.requestIP(request)?.address ?? '', headers)
  const query = readQuery(request.url)
  const visitor = { method, headers, at: state.now(), query, address, domain, slug, isPreview }
  try {
    const resolved = findLink(state, domain, toRequestedSlug(visitor))
    const answer =
      resolved instanceof Promise || resolved === null
        ? answerLater(state, visitor, resolved, request)
        : answerVisitor(state, visitor, resolved, request)
    return answer instanceof Promise ? answer.catch((error) => answerFailure(visitor, error)) : answer
  } catch (error) {
    return answerFailure(visitor, error)
  }
}

async function answerLater(
  state: RedirectNeeds,
  visitor: VisitorRequest,
  resolved: ReturnType<typeof findLink>,
  request: Request,
): Promise<Response> {
  const link = await resolved
  const above = link ? null : await findLinkAbove(state, visitor.domain, pathOf(request.url))
  return above
    ? answerVisitor(state, { ...visitor, extraPath: above.extraPath, isPreview: false }, above.link, request)
    : answerVisitor(state, visitor, link, request)
}

/** Finds the link that takes the rest of a path to its destination. A longer slug comes first. */
async function findLinkAbove(
  state: RedirectNeeds,
  domain: ShortDomain,
  path: string,
): Promise<{ link: CachedLink; extraPath: string } | null> {
  const segments = path.slice(1).split('/')
  for (let length = Math.min(segments.length - 1, SEGMENTS_MAX); length > 0; length--) {
    const link = await resolveLink(
      state,
      domain,
      readRequestedSlug(`/${segments.slice(0, length).join('/')}`),
    )
    if (!link?.appendsPath) continue
    const extraPath = segments.slice(length).join('/')
    return canClimb(extraPath) ? null : { link, extraPath }
  }
  return null
}

const DECODINGS_MAX = 3

/**
 * Whether a path could lead above the one that it is appended to, also where a destination decodes it again, or takes
 * `\\` for `/`. What cannot be decoded counts too.
 */
function canClimb(path: string): boolean {
  let text = path
  for (let round = 0; round <= DECODINGS_MAX; round++) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: some servers end a path at a control character.
    if (/(?:^|[/\\])\.{1,2}(?:[/\\;?#]|$)|[\0-\x1f\x7f\ufffd]|%u/i.test(text)) return true
    const decoded = percentDecode(text)
    if (decoded === text) return /%[89a-f][0-9a-f]/i.test(text)
    text = decoded
  }
  return true
}

/** Looks for shorter slugs only where no link has the whole one. */
function findLink(state: RedirectNeeds, domain: ShortDomain, slug: string): ReturnType<typeof resolveLink> {
  const found = resolveLink(state, domain, slug)
  if (found !== null && !(found instanceof Promise)) return found
  const shorter = findShorterSlugs(slug)
  return shorter.length === 0 ? found : findFirst(state, domain, found, shorter)
}

async function findFirst(
  state: RedirectNeeds,
  domain: ShortDomain,
  found: ReturnType<typeof resolveLink>,
  slugs: string[],
): Promise<CachedLink | null> {
  let link = await found
  for (const slug of slugs) link ??= await resolveLink(state, domain, slug)
  return link
}

function answerRoot({ site, db }: RedirectNeeds, { method, headers }: Request, domain: ShortDomain): Answer {
  if (method !== 'GET' && method !== 'HEAD') return methodNotAllowedPage(headers.get('accept'))
  const target = toDomainTarget(site, domain.rootUrl, null)
  if (target !== null) return redirectTo(target, 302)
  return readPageBrand(db.read, domain.workspaceId).then((brand) => domainPage(domain.name, brand))
}

function tryFastPath(
  state: RedirectNeeds,
  { path: slug, query, headers }: RequestHead,
  peer: string,
  domain: ShortDomain,
): FastRedirect | null {
  const link = state.cache.get(domain.name, toSlugKey(slug, domain.caseSensitive))
  if (!link || link.clickLimit !== null || link.passwordHash !== null || !answersOn(domain, link)) return null
  if (link.card !== null && isUnfurler(headers.get('user-agent'))) return null
  const address = readAddress(state, peer, headers)
  const visitor = { method: 'GET', headers, at: state.now(), query, address, domain, slug, isPreview: false }
  const choice = chooseDestination(link, toRedirectContext(state, visitor, link, false))
  if (choice.kind !== 'go' || !HEADER_SAFE.test(choice.url)) return null
  return { status: choice.status, location: recordAndLocate(state, visitor, link, choice) }
}

function readAddress(
  { trustProxy }: RedirectNeeds,
  peer: string,
  headers: VisitorRequest['headers'],
): string {
  const forwarded = trustProxy.length === 0 ? null : headers.get('x-forwarded-for')
  return readClientAddress(peer, forwarded, trustProxy)
}

function answerVisitor(
  state: RedirectNeeds,
  visitor: VisitorRequest,
  link: CachedLink | null,
  request: Request,
): Answer {
  const { method } = visitor
  if (!isReading(method)) {
    if (method === 'POST' && link && link.passwordHash !== null) {
      return answerPassword(state, visitor, link, link.passwordHash, request)
    }
    const isAnswered = link
      ? link.passwordHash === null && keepsMethod(link.redirectStatus)
      : method === 'POST'
    if (!isAnswered)
      return methodNotAllowedPage(visitor.headers.get('accept'), (link?.passwordHash ?? null) !== null)
  }
  if (!link) return answerChoice(state, visitor, null, NOT_FOUND)
  const choice = chooseForVisitor(state, visitor, link)
  return choice instanceof Promise
    ? choice.then((limited) => answerChoice(state, visitor, link, limited))
    : answerChoice(state, visitor, link, choice)
}

function answerChoice(
  state: RedirectNeeds,
  visitor: VisitorRequest,
  link: CachedLink | null,
  choice: DestinationChoice,
): Answer {
  const showsPreview = visitor.isPreview && link && (choice.kind === 'go' || choice.kind === 'password')
  if (showsPreview) return answerPreview(state, visitor, link, choice.kind === 'go' ? choice.url : null)
  if (choice.kind !== 'go') {
    record(state, visitor, link, choice.outcome)
    const accept = visitor.headers.get('accept')
    const report = toReport(state, link, visitor)
    if (choice.kind === 'notFound') return answerNotFound(state, visitor)
    if (choice.kind === 'gone') return findBrand(state, link).then((brand) => gonePage(accept, brand))
    if (choice.kind === 'unavailable')
      return blockedPage(accept, choice.rule, { ...report, origin: state.site.origin })
    return findBrand(state, link).then((brand) => passwordPage({ status: 200, report, brand }))
  }
  const Location = recordAndLocate(state, visitor, link, choice)
  if (link?.card && showsCard(visitor, choice)) {
    return cardPage(link.card, { destination: Location, shortUrl: toReport(state, link, visitor).shortUrl })
  }
  return redirectTo(Location, toStatus(visitor, link, choice))
}

/** Asked for by pages only: a redirect never waits for it. */
const findBrand = ({ db }: RedirectNeeds, link: CachedLink | null) =>
  readPageBrand(db.read, link?.workspaceId)

const isReading = (method: string) => method === 'GET' || method === 'HEAD'

/** Statuses with which a client repeats its method and its body (RFC 9110 §15.4). */
const keepsMethod = (status: number) => status === 307 || status === 308

/** After the password form the browser must GET. With 307 or 308 it would send the password on to the destination. */
function toStatus({ method }: VisitorRequest, link: CachedLink | null, { status }: GoChoice): number {
  if (isReading(method)) return status
  return keepsMethod(status) && link?.passwordHash === null ? status : 303
}

const redirectTo = (Location: string, status: number) =>
  new Response(null, {
    status,
    headers: { Location, 'Cache-Control': 'private, no-store', 'X-Robots-Tag': 'noindex' },
  })

/** A workspace chooses where its domain sends visitors of slugs that it does not have. */
function answerNotFound({ site, db }: RedirectNeeds, visitor: VisitorRequest): Answer {
  const { domain, method, headers } = visitor
  const target = toDomainTarget(site, domain.notFoundUrl, toRequestedSlug(visitor))
  // On the default domain nothing says whose link it was.
  if (target === null)
    return readPageBrand(db.read, domain.workspaceId).then((brand) =>
      notFoundPage(headers.get('accept'), brand),
    )
  return redirectTo(target, method === 'POST' ? 303 : 302)
}

/** A closed link that leads to its expiration URL shows no card. */
const showsCard = ({ method, headers }: VisitorRequest, { outcome }: GoChoice) =>
  outcome === 'redirect' && method !== 'POST' && isUnfurler(headers.get('user-agent'))

function answerPreview(
  state: RedirectNeeds,
  visitor: VisitorRequest,
  link: CachedLink,
  destination: string | null,
): Answer {
  record(state, visitor, link, 'preview')
  const report = toReport(state, link, visitor)
  return Promise.all([findBrand(state, link), findStats(state, visitor, link)]).then(([brand, stats]) =>
    previewPage(link, destination, report, { brand, stats }),
  )
}

const STATS_PER_MINUTE = 30

/** A visitor who asks often, and one of a server that cannot count now, gets the page without them. */
async function findStats(
  { renderStats, limiter }: RedirectNeeds,
  { address }: VisitorRequest,
  link: CachedLink,
): Promise<PreviewStats | undefined> {
  if (!link.publicStats) return undefined
  const permit = await limiter.take(`statistics of links:${toRateLimitKey(address)}`, STATS_PER_MINUTE)
  if (!permit.allowed) return undefined
  try {
    return await renderStats(link)
  } catch (error) {
    log.error('public_stats_failed', describeError(error))
    return undefined
  }
}

/** Builds the data of the report link on a page. */
const toReport = (
  { site, abuseEmail }: RedirectNeeds,
  link: CachedLink | null,
  visitor: VisitorRequest,
): AbuseReport => ({
  abuseEmail,
  shortUrl: toShortUrl(site, { domain: visitor.domain.name, slug: link?.slug ?? visitor.slug }),
})

async function answerPassword(
  state: RedirectNeeds,
  visitor: VisitorRequest,
  link: CachedLink,
  passwordHash: string,
  request: Request,
): Promise<Response> {
  const locked = await chooseForVisitor(state, visitor, link)
  // The link may have closed since the visitor got the password page.
  if (locked.kind !== 'password') return answerChoice(state, visitor, link, locked)
  const key = `password of link ${link.id}:${toRateLimitKey(visitor.address)}`
  const permit = await state.limiter.take(key, PASSWORD_TRIES_PER_MINUTE)
  if (!permit.allowed) {
    const seconds = Math.max(1, Math.ceil(permit.waitMs / 1000))
    return passwordPage({
      status: 429,
      wrong: 'Too many tries. Please wait a minute.',
      report: toReport(state, link, visitor),
      brand: await findBrand(state, link),
      headers: { 'Retry-After': String(seconds) },
    })
  }
  const password = await readPassword(request)
  if (password === undefined || !(await checkPassword(password, passwordHash, 'links'))) {
    record(state, visitor, link, 'password')
    const wrong = 'That’s not the password. Try again.'
    const brand = await findBrand(state, link)
    return passwordPage({ status: 403, wrong, report: toReport(state, link, visitor), brand })
  }
  return answerChoice(state, visitor, link, await chooseForVisitor(state, visitor, link, true))
}

function answerFailure(visitor: VisitorRequest, error: unknown): Answer {
  const unavailable = error instanceof Failure && error.code === 'unavailable'
  log.error(
    unavailable ? 'redirect_unavailable' : 'redirect_failed',
    describeError(unavailable ? error.detail.cause : error),
  )
  return unavailablePage(visitor.headers.get('accept'), (unavailable && error.detail.retryAfter) || 5)
}

/** Records the click. @returns where the redirect leads, with the click id where the link tracks conversions */
function recordAndLocate(
  state: RedirectNeeds,
  visitor: VisitorRequest,
  link: CachedLink | null,
  choice: GoChoice,
): string {
  const { variant } = choice
  const id = record(state, visitor, link, choice.outcome, choice.url, variant)
  if (!choice.addClickId || !link || id === 0) return choice.url
  const { id: linkId, workspaceId } = link
  return withClickId(choice.url, state.clickIds.sign({ id, linkId, workspaceId, variant }))
}

/**
 * Every answer of this file is recorded here: as a hit, or as a count where no link has the slug.
 * @returns the hit's id; 0 without a hit
 */
function record(
  state: RedirectNeeds,
  visitor: VisitorRequest,
  link: CachedLink | null,
  outcome: HitOutcome,
  destination?: string,
  variant?: string,
): number {
  const { spool, misses } = state
  if (link) {
    return recordHit(spool, visitor, {
      outcome,
      workspaceId: link.workspaceId,
      linkId: link.id,
      destination,
      variant,
      params: readKeptParams(state, visitor, link.workspaceId),
      marks: markVisitor(state, visitor, link.workspaceId),
    })
  }
  const { at, address, headers, domain } = visitor
  const slug = toRequestedSlug(visitor)
  misses.count({
    at,
    domain: domain.name,
    workspaceId: domain.workspaceId ?? 0,
    slugKey: isPossibleSlug(slug) ? toSlugKey(slug, domain.caseSensitive) : null,
    human: isHuman(state, visitor, domain.workspaceId ?? 0),
    address,
    userAgent: headers.get('user-agent') ?? '',
  })
  return 0
}

function readKeptParams(
  { traffic, keptValues }: RedirectNeeds,
  { query, at }: VisitorRequest,
  workspaceId: number,
): string {
  const names = query === '' ? undefined : traffic.findSettings(workspaceId)?.keptParams
  if (names === undefined) return ''
  return extractKeptParams(query, names, (name, value) => keptValues.admit(workspaceId, name, value, at))
}

/** The slug without the `+` that asks for a preview. */
const toRequestedSlug = ({ slug, isPreview }: VisitorRequest) => (isPreview ? slug.slice(0, -1) : slug)

function readQuery(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

async function readPassword(request: Request): Promise<string | undefined> {
  const bytes = await readBytes(request, PASSWORD_BODY_MAX)
  return bytes
    ? (new URLSearchParams(new TextDecoder().decode(bytes)).get('password') ?? undefined)
    : undefined
}
