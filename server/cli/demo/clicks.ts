// Generates sixty days of clicks and visits, oldest first: more by day than at night, more on Tuesdays than on Sundays,
// and most on the day when a link was sent. Pure: the same seed and the same time give the same clicks.

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
import { DEMO_LINKS, type DemoLink, findVariant, isOwnPage } from './links.ts'
import { pickAgent, pickBotAgent, pickOrganicReferrer, pickPlace, pickReferrer } from './visitors.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const DEMO_DAYS = 60
/** The length of a visit in features/tracking/visit.ts. */
const VISIT_MS = 30 * 60_000

export interface DemoVisitor {
  visitor: string
  place: Place
  agent: ParsedUserAgent
  /** Whether the snippet runs in the visitor's browser. */
  seen: boolean
  /** Oldest first. */
  clicks: DemoHit[]
  visit: DemoVisit | null
}

export interface DemoVisit {
  landing: DemoHit
  seenAt: number
  /** The click or the page view that started the visit. */
  first: DemoHit
}

export interface DemoHit {
  /** Set when all hits are in order. */
  id: number
  at: number
  /** The index in `DEMO_LINKS`; -1 without a link. */
  link: number
  outcome: HitOutcome
  class: HitClass
  trigger: HitTrigger
  person: DemoVisitor
  referrer: Referrer
  campaign: Campaign
  /** The label of the variant, where the link has a split test. */
  variant?: string
  /** The visit and time of the page view that the snippet recorded after a click. */
  landedAt?: number
  visit?: DemoVisit
}

/** The campaigns in the links' destinations. */
export const LINK_CAMPAIGNS: readonly Campaign[] = DEMO_LINKS.map((link) =>
  parseCampaign(extractUtmParameters('', toUtmQuery(link))),
)
const NO_CAMPAIGN = parseCampaign('')

export function toUtmQuery({ channel, campaign, content, term }: DemoLink): string {
  const source = CHANNEL_SOURCES[channel]
  if (!source) return ''
  const parameters = {
    utm_source: source[0],
    utm_medium: source[1],
    utm_campaign: campaign,
    utm_term: term,
    utm_content: content,
  }
  return new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => !!entry[1]),
  ).toString()
}

/** The rhythm of a day in UTC, for a company in the middle of Europe. */
const BY_HOUR = [
  0.3, 0.2, 0.15, 0.13, 0.2, 0.45, 0.8, 1.05, 1.15, 1.15, 1.15, 1.25, 1.2, 1.1, 1.05, 1.1, 1.2, 1.3, 1.4,
  1.35, 1.15, 0.9, 0.65, 0.45,
]
const BY_WEEKDAY = [0.72, 1, 1.14, 1.08, 1.1, 0.95, 0.68]
/** Zipf's law, a little flatter for the first ranks. */
const popularity = (rank: number) => 1 / (rank + 2.5)

/** The share of a link's clicks that comes on a day. */
function shareOfDay({ sent, ended = -1 }: DemoLink, daysAgo: number): number {
  if (daysAgo <= ended) return 0
  if (sent === undefined) return 1 / DEMO_DAYS
  return daysAgo > sent ? 0 : 0.012 + 0.42 * 0.5 ** (sent - daysAgo)
}

const linksOfDay = Array.from({ length: DEMO_DAYS + 1 }, (_, daysAgo) =>
  DEMO_LINKS.map((link, index) => [popularity(index) * shareOfDay(link, daysAgo), index] as const),
)

/** @returns the clicks of each hour, from the first hour to the current one */
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
  /** The landing page views of visitors who came without a link. */
  organic: DemoHit[]
}

/** The last minute has no clicks, so that no page view is after the current time. */
const QUIET_MS = 60_000

/** Yields after each day how much is done, from 0 to 1. */
export function* generateClicks(random: Random, count: number, time: number): Generator<number, DemoClicks> {
  const now = time - QUIET_MS
  // Today and the days before. Analytics opens with thirty days, and compares them with the thirty before.
  const start = Math.floor(now / DAY) * DAY - (DEMO_DAYS - 1) * DAY
  const hits: DemoHit[] = []
  const organic: DemoHit[] = []
  let recent: DemoVisitor[] = []
  for (const [hour, inHour] of countsByHour(count, start, now).entries()) {
    const from = start + hour * HOUR
    const to = Math.min(from + HOUR, now)
    const daysAgo = Math.min(DEMO_DAYS, Math.floor((now - from) / DAY))
    const pickLink = createWeightedPicker(linksOfDay[daysAgo] ?? [])
    // A visitor has another id on another day.
    recent = Math.floor(from / DAY) === Math.floor((from - HOUR) / DAY) ? recent.slice(-60) : []
    for (let n = 0; n < inHour; n++) {
      const at = from + Math.floor(((n + random()) / inHour) * (to - from))
      const link = pickLink(random)
      const person =
        recent.length > 0 && random() < 0.3 ? pick(recent.slice(-25), random) : createVisitor(link, random)
      if (person.clicks.length === 0) recent.push(person)
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
  const clicked = DEMO_LINKS[link] as DemoLink
  const hit: DemoHit = {
    id: 0,
    at,
    link,
    outcome: 'redirect',
    class: 'human',
    trigger: clicked.channel === 'poster' && random() < 0.93 ? 'qr' : 'link',
    person,
    referrer: pickReferrer(clicked.channel, random),
    campaign: LINK_CAMPAIGNS[link] as Campaign,
    variant: findVariant(clicked, person.visitor)?.label,
  }
  hits.push(hit)
  person.clicks.push(hit)
  if (!person.seen || !isOwnPage(clicked)) return
  hit.landedAt = at + 300 + Math.floor(random() * 2500)
  hit.visit = addPageView(hits, hit, hit.landedAt)
}

/** Adds a page view that the snippet reports. The first one of a visit is its landing. */
function addPageView(hits: DemoHit[], arrival: DemoHit, at: number): DemoVisit {
  const { person } = arrival
  const continues = person.visit !== null && at - person.visit.seenAt < VISIT_MS
  const outcome = continues ? 'view' : 'landing'
  const view: DemoHit = { ...arrival, at, outcome, class: 'human', trigger: 'link', variant: undefined }
  hits.push(view)
  const visit =
    person.visit !== null && continues ? person.visit : { landing: view, seenAt: at, first: arrival }
  visit.seenAt = at
  person.visit = visit
  return visit
}

function addOrganicVisit(hits: DemoHit[], at: number, random: Random): DemoHit {
  const person = { ...createVisitor(-1, random), seen: true }
  const arrival: DemoHit = {
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
  arrival.visit = addPageView(hits, arrival, at)
  arrival.visit.first = arrival.visit.landing
  if (random() < 0.5) addPageView(hits, arrival, at + 8_000 + Math.floor(random() * 40_000))
  return arrival.visit.landing
}

/** Adds a hit that is not a human click: of a bot, a prefetch, or a link checker. */
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
