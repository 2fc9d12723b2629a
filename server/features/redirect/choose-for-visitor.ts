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
import { isBot, USER_AGENT_MAX } from '../visitors/is-bot.ts'
import { isSpamReferrer } from '../visitors/referrer.ts'
import type { SaltLookup } from '../visitors/salts.ts'
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
}

export function toRedirectContext(
  { geo, site, isBlockedDestination, getSalt }: Omit<ChoiceNeeds, 'clickLimiter'>,
  visitor: VisitorRequest,
  link: CachedLink,
  unlocked: boolean,
): RedirectContext {
  return {
    at: visitor.at,
    query: visitor.isPreview ? '' : visitor.query,
    extraPath: visitor.extraPath,
    ruleVisitor: link.rules ? toRuleVisitor(geo, visitor, link.rules) : undefined,
    device: link.deviceTargeting ? deviceForTargeting(visitor.headers.get('user-agent') ?? '') : 'desktop',
    country: link.geoTargeting ? geo().findPlace(visitor.address).country : null,
    variant: link.split ? chooseVariantFor(getSalt, visitor, link.id, link.split) : undefined,
    unlocked,
    clicksUsedUp: false,
    schemes: site.schemes,
    isBlocked: isBlockedDestination,
    // Plain links never close.
    domainExpiredUrl: link.plain ? null : toDomainTarget(site, visitor.domain.expiredUrl, link.slug),
  }
}

/** @returns undefined for robots and previews, which count for no variant */
function chooseVariantFor(
  getSalt: SaltLookup,
  visitor: VisitorRequest,
  linkId: number,
  split: readonly Variant[],
): number | undefined {
  if (visitor.isPreview || !isHuman(visitor)) return undefined
  const userAgent = visitor.headers.get('user-agent') ?? ''
  return chooseVariant(split, { linkId, address: visitor.address, userAgent }, getSalt(visitor.at))
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

/** Only a redirected person uses up a click. Bots, prefetches, previews and the password page use none. */
async function applyClickLimit(
  { clickLimiter }: ChoiceNeeds,
  visitor: VisitorRequest,
  link: CachedLink,
  context: RedirectContext,
  choice: DestinationChoice,
): Promise<DestinationChoice> {
  const usesClick = choice.outcome === 'redirect' && !visitor.isPreview && isHuman(visitor)
  const hasClick = await (usesClick ? clickLimiter.use(link) : clickLimiter.hasLeft(link))
  return hasClick ? choice : chooseDestination(link, { ...context, clicksUsedUp: true })
}

/** Most visitors have one of a few user agents. Each takes half a kilobyte at most. */
const USER_AGENTS_CACHED = 2000
const clients = createGenerationCache(USER_AGENTS_CACHED, (userAgent) => ({ bot: isBot(userAgent) }))

export function isHuman({ method, headers }: VisitorRequest): boolean {
  if (method === 'HEAD' || clients.get((headers.get('user-agent') ?? '').slice(0, USER_AGENT_MAX)).bot)
    return false
  if (isSpamReferrer(headers.get('referer'))) return false
  return !isPrefetch((name) => headers.get(name))
}
