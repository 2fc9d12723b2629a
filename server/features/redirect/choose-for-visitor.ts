// Chooses the answer of a link for one visitor: the visitor's side of `chooseDestination`, and the link's click
// limit.

import { createGenerationCache } from '../../lib/generation-cache.ts'
import { deviceForTargeting, isPrefetch } from '../../lib/user-agent.ts'
import type { GeoLookup } from '../../storage/geo.ts'
import type { HitRequest } from '../hits/record.ts'
import type { DestinationJudge } from '../links/blocklist/judge-destination.ts'
import type { CachedLink } from '../links/cache.ts'
import type { ClickLimiter } from '../links/counting/use-click.ts'
import type { Site } from '../links/link.ts'
import type { ShortDomain } from '../links/names/domain-directory.ts'
import { chooseVariant } from '../links/split/choose-variant.ts'
import type { Variant } from '../links/split/schema.ts'
import { judgeHitClass } from '../visitors/hit-class.ts'
import { isBot, USER_AGENT_MAX } from '../visitors/is-bot.ts'
import { isSpamReferrer } from '../visitors/referrer.ts'
import type { SaltLookup } from '../visitors/salts.ts'
import type { TrafficDirectory, TrafficMarks } from '../visitors/traffic-directory.ts'
import { chooseDestination, type DestinationChoice, type RedirectContext } from './destination.ts'
import { toDomainTarget } from './domain-target.ts'
import { toRuleVisitor } from './rule-visitor.ts'

/** The parts of a request that a redirect needs. Each is read from the request once. */
export interface VisitorRequest extends HitRequest {
  domain: ShortDomain
  slug: string
  /** The slug ends with `+`: the visitor wants to see where the link leads. */
  isPreview: boolean
  /** The path after the slug: see `RedirectContext.extraPath`. */
  extraPath?: string
  /** See `markVisitor`. */
  marks?: TrafficMarks
}

export interface ChoiceNeeds {
  clickLimiter: ClickLimiter
  site: Site
  /** Opens the country database (8 MB) when somebody visits the first link with country rules. */
  geo: () => GeoLookup
  /** True where the operator blocks the host of a link's destination. */
  isBlockedDestination: DestinationJudge
  /** The salt of a day, for variants that a visitor keeps. */
  getSalt: SaltLookup
  traffic: TrafficDirectory
}

export function toRedirectContext(
  needs: Omit<ChoiceNeeds, 'clickLimiter'>,
  visitor: VisitorRequest,
  link: CachedLink,
  unlocked: boolean,
): RedirectContext {
  const { geo, site, isBlockedDestination } = needs
  return {
    at: visitor.at,
    query: visitor.isPreview ? '' : visitor.query,
    extraPath: visitor.extraPath,
    ruleVisitor: link.rules ? toRuleVisitor(geo, visitor, link.rules) : undefined,
    device: link.deviceTargeting ? deviceForTargeting(visitor.headers.get('user-agent') ?? '') : 'desktop',
    country: link.geoTargeting ? geo().findPlace(visitor.address).country : null,
    variant: link.split ? chooseVariantFor(needs, visitor, link, link.split) : undefined,
    unlocked,
    clicksUsedUp: false,
    schemes: site.schemes,
    isBlocked: isBlockedDestination,
    // Plain links never close.
    domainExpiredUrl: link.plain ? null : toDomainTarget(site, visitor.domain.expiredUrl, link.slug),
  }
}

/** @returns undefined for previews and for those who are no visitors, which count for no variant */
function chooseVariantFor(
  needs: Pick<ChoiceNeeds, 'getSalt' | 'traffic'>,
  visitor: VisitorRequest,
  link: CachedLink,
  split: readonly Variant[],
): number | undefined {
  if (visitor.isPreview || !isHuman(needs, visitor, link.workspaceId)) return undefined
  const userAgent = visitor.headers.get('user-agent') ?? ''
  return chooseVariant(
    split,
    { linkId: link.id, address: visitor.address, userAgent },
    needs.getSalt(visitor.at),
  )
}

/** @returns a promise only for a link with a click limit, which the database counts */
export function chooseForVisitor(
  needs: ChoiceNeeds,
  visitor: VisitorRequest,
  link: CachedLink,
  unlocked = false,
): DestinationChoice | Promise<DestinationChoice> {
  const context = toRedirectContext(needs, visitor, link, unlocked)
  const choice = chooseDestination(link, context)
  const limited = link.clickLimit !== null && (choice.outcome === 'redirect' || choice.outcome === 'password')
  return limited ? applyClickLimit(needs, visitor, link, context, choice) : choice
}

/** Only a hit of the class `human` uses up a click. Previews and the password page use none. */
async function applyClickLimit(
  needs: ChoiceNeeds,
  visitor: VisitorRequest,
  link: CachedLink,
  context: RedirectContext,
  choice: DestinationChoice,
): Promise<DestinationChoice> {
  const { clickLimiter } = needs
  const usesClick =
    choice.outcome === 'redirect' && !visitor.isPreview && isHuman(needs, visitor, link.workspaceId)
  const hasClick = await (usesClick ? clickLimiter.use(link) : clickLimiter.hasLeft(link))
  return hasClick ? choice : chooseDestination(link, { ...context, clicksUsedUp: true })
}

/** Most visitors have one of a few user agents. Each takes half a kilobyte at most. */
const USER_AGENTS_CACHED = 2000
const clients = createGenerationCache(USER_AGENTS_CACHED, (userAgent) => ({ bot: isBot(userAgent) }))

/** Whether the hit of this request will have the class `human`. @param workspaceId 0 where no workspace has the domain */
export function isHuman(
  needs: Pick<ChoiceNeeds, 'traffic'>,
  visitor: VisitorRequest,
  workspaceId: number,
): boolean {
  const { method, headers } = visitor
  const { internal, ignored } = markVisitor(needs, visitor, workspaceId)
  const facts = {
    head: method === 'HEAD',
    prefetch: isPrefetch((name) => headers.get(name)),
    bot: clients.get((headers.get('user-agent') ?? '').slice(0, USER_AGENT_MAX)).bot,
    internal,
    spam: ignored || isSpamReferrer(headers.get('referer')),
  }
  return judgeHitClass(facts) === 'human'
}

/** What the workspace says about the visitor. It is asked once for each request, so that limit and record agree. */
export function markVisitor(
  { traffic }: Pick<ChoiceNeeds, 'traffic'>,
  visitor: VisitorRequest,
  workspaceId: number,
): TrafficMarks {
  visitor.marks ??= traffic.mark(workspaceId, visitor)
  return visitor.marks
}
