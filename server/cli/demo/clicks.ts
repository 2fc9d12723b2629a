// Thirty days of clicks and visits, oldest first: more by day than by night, more on Tuesdays than on Sundays, and most
// on the day when something was sent. Pure: the same seed and the same moment give the same clicks.

import { type Campaign, extractUtmParameters, parseCampaign } from '../../features/visitors/campaign.ts'
import type { Referrer } from '../../features/visitors/referrer.ts'
import type { ParsedUserAgent } from '../../features/visitors/user-agent.ts'
import {
  createWeightedPicker,
  distributeByWeight,
  pick,
  type Random,
  randomDigits64,
} from '../../lib/seeded-random.ts'
import type { Place } from '../../storage/geo.ts'
import type { HitClass, HitOutcome, HitTrigger } from '../../storage/hits/hit.ts'
import { CHANNEL_SOURCES } from './company.ts'
import { DEMO_LINKS, type DemoLink, isOwnPage } from './links.ts'
import { pickAgent, pickBotAgent, pickOrganicReferrer, pickPlace, pickReferrer } from './visitors.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const DEMO_DAYS = 30
/** As long as the snippet's visits: see features/tracking/visit.ts. */
const VISIT_MS = 30 * 60_000

export interface DemoVisitor {
  visitor: string
  place: Place
  agent: ParsedUserAgent
  /** Whether the snippet runs in their browser. */
  seen: boolean
  /** Their clicks, oldest first. */
  clicks: DemoHit[]
  visit: DemoVisit | null
}

export interface DemoVisit {
  landing: DemoHit
  seenAt: number
  /** The click, or the page view, that it began with. */
  first: DemoHit
}

export interface DemoHit {
  /** Given when all are in order. */
  id: number
  at: number
  /** Place in `LINKS`; -1 where there is none. */
  link: number
  outcome: HitOutcome
  class: HitClass
  trigger: HitTrigger
  person: DemoVisitor
  referrer: Referrer
  campaign: Campaign
  /** Of a click: when its page was seen, and in which visit. */
  landedAt?: number
  visit?: DemoVisit
}

/** What a link's destination names. */
export const LINK_CAMPAIGNS: readonly Campaign[] = DEMO_LINKS.map((link) =>
  parseCampaign(extractUtmParameters('', toUtmQuery(link))),
)
const NO_CAMPAIGN = parseCampaign('')

function toUtmQuery({ channel, campaign, content, term }: DemoLink): string {
  const source = CHANNEL_SOURCES[channel]
  if (!source) return ''
  const all = {
    utm_source: source[0],
    utm_medium: source[1],
    utm_campaign: campaign,
    utm_term: term,
    utm_content: content,
  }
  return new URLSearchParams(
    Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]),
  ).toString()
}

/** UTC, for a company in the middle of Europe. */
const BY_HOUR = [
  0.3, 0.2, 0.15, 0.13, 0.2, 0.45, 0.8, 1.05, 1.15, 1.15, 1.15, 1.25, 1.2, 1.1, 1.05, 1.1, 1.2, 1.3, 1.4,
  1.35, 1.15, 0.9, 0.65, 0.45,
]
const BY_WEEKDAY = [0.72, 1, 1.14, 1.08, 1.1, 0.95, 0.68]
/** Zipf's law, a little flatter at its head. */
const popularity = (rank: number) => 1 / (rank + 2.5)

/** What part of a link's clicks comes on a day, counted back from today. */
function shareOfDay({ sent, ended = -1 }: DemoLink, daysAgo: number): number {
  if (daysAgo <= ended) return 0
  if (sent === undefined) return 1 / DEMO_DAYS
  return daysAgo > sent ? 0 : 0.012 + 0.42 * 0.5 ** (sent - daysAgo)
}

const linksOfDay = Array.from({ length: DEMO_DAYS + 1 }, (_, daysAgo) =>
  DEMO_LINKS.map((link, index) => [popularity(index) * shareOfDay(link, daysAgo), index] as const),
)

/** How many of `count` fall into each hour, from the first to the one that `now` is in. */
function countsByHour(count: number, start: number, now: number): number[] {
  const hours = Math.ceil((now - start) / HOUR)
  const weights = Array.from({ length: hours }, (_, hour) => {
    const date = new Date(start + hour * HOUR)
    const daysAgo = Math.floor((now - date.getTime()) / DAY)
    const links = (linksOfDay[Math.min(daysAgo, DEMO_DAYS)] ?? []).reduce((sum, [weight]) => sum + weight, 0)
    const growth = 1.25 - daysAgo / DEMO_DAYS / 2
    const rhythm = (BY_HOUR[date.getUTCHours()] as number) * (BY_WEEKDAY[date.getUTCDay()] as number)
    return rhythm * links * growth
  })
  return distributeByWeight(count, weights)
}

export interface DemoClicks {
  hits: DemoHit[]
  /** Page views by which somebody came without a link. */
  organic: DemoHit[]
}

/** Of the last minutes there are none, so that no page is seen after now. */
const QUIET_MS = 60_000

/** Yields the part that is done, after each day. */
export function* generateClicks(
  random: Random,
  count: number,
  moment: number,
): Generator<number, DemoClicks> {
  const now = moment - QUIET_MS
  // Today and the days before it, as analytics count thirty days.
  const start = Math.floor(now / DAY) * DAY - (DEMO_DAYS - 1) * DAY
  const hits: DemoHit[] = []
  const organic: DemoHit[] = []
  let here: DemoVisitor[] = []
  for (const [hour, inHour] of countsByHour(count, start, now).entries()) {
    const from = start + hour * HOUR
    const to = Math.min(from + HOUR, now)
    const daysAgo = Math.min(DEMO_DAYS, Math.floor((now - from) / DAY))
    const linkOf = createWeightedPicker(linksOfDay[daysAgo] ?? [])
    // Visitors are somebody else on another day.
    here = Math.floor(from / DAY) === Math.floor((from - HOUR) / DAY) ? here.slice(-60) : []
    for (let n = 0; n < inHour; n++) {
      const at = from + Math.floor(((n + random()) / inHour) * (to - from))
      const link = linkOf(random)
      const person =
        here.length > 0 && random() < 0.3 ? pick(here.slice(-25), random) : createVisitor(link, random)
      if (person.clicks.length === 0) here.push(person)
      addClick(hits, person, link, at, random)
      if (random() < 0.1) addNoise(hits, link, at, random)
      if (random() < 0.22) organic.push(addOrganicVisit(hits, at, random))
    }
    if (hour % 24 === 23) yield hour / (DEMO_DAYS * 24)
  }
  hits.sort((a, b) => a.at - b.at)
  return { hits, organic }
}

const createVisitor = (link: number, random: Random): DemoVisitor => ({
  visitor: randomDigits64(random),
  place: pickPlace(random),
  agent: pickAgent(DEMO_LINKS[link]?.channel ?? 'support', random),
  seen: random() < 0.84,
  clicks: [],
  visit: null,
})

function addClick(hits: DemoHit[], person: DemoVisitor, link: number, at: number, random: Random) {
  const of = DEMO_LINKS[link] as DemoLink
  const hit: DemoHit = {
    id: 0,
    at,
    link,
    outcome: 'redirect',
    class: 'human',
    trigger: of.channel === 'poster' && random() < 0.93 ? 'qr' : 'link',
    person,
    referrer: pickReferrer(of.channel, random),
    campaign: LINK_CAMPAIGNS[link] as Campaign,
  }
  hits.push(hit)
  person.clicks.push(hit)
  if (!person.seen || !isOwnPage(of)) return
  hit.landedAt = at + 300 + Math.floor(random() * 2500)
  hit.visit = addPageView(hits, hit, hit.landedAt)
}

/** A page that the snippet sees: the first of a visit is its landing. */
function addPageView(hits: DemoHit[], came: DemoHit, at: number): DemoVisit {
  const { person } = came
  const goesOn = person.visit !== null && at - person.visit.seenAt < VISIT_MS
  const seen: DemoHit = { ...came, at, outcome: goesOn ? 'view' : 'landing', class: 'human', trigger: 'link' }
  hits.push(seen)
  const visit = person.visit !== null && goesOn ? person.visit : { landing: seen, seenAt: at, first: came }
  visit.seenAt = at
  person.visit = visit
  return visit
}

function addOrganicVisit(hits: DemoHit[], at: number, random: Random): DemoHit {
  const person = { ...createVisitor(-1, random), seen: true }
  const came: DemoHit = {
    id: 0,
    at,
    link: -1,
    outcome: 'landing',
    class: 'human',
    trigger: 'link',
    person,
    referrer: pickOrganicReferrer(random),
    campaign: NO_CAMPAIGN,
  }
  came.visit = addPageView(hits, came, at)
  came.visit.first = came.visit.landing
  if (random() < 0.5) addPageView(hits, came, at + 8_000 + Math.floor(random() * 40_000))
  return came.visit.landing
}

/** What is not a person's click: robots, browsers that fetch ahead, and programs that only look whether it is there. */
function addNoise(hits: DemoHit[], link: number, at: number, random: Random) {
  const person = createVisitor(link, random)
  const dice = random()
  const hitClass = dice < 0.62 ? 'bot' : dice < 0.88 ? 'prefetch' : 'head'
  if (hitClass !== 'prefetch') person.agent = pickBotAgent(random)
  hits.push({
    id: 0,
    at,
    link,
    outcome: 'redirect',
    class: hitClass,
    trigger: 'link',
    person,
    referrer: { referrer: null, referrerUrl: null },
    campaign: LINK_CAMPAIGNS[link] as Campaign,
  })
}
