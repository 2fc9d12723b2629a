// Who of those that clicked sent a form: leads that say the same as the clicks they came from. Pure, as the clicks are.

import type { Campaign } from '../../features/visitors/campaign.ts'
import { stripQuery } from '../../features/visitors/referrer.ts'
import { createWeightedPicker, pick, type Random } from '../../lib/seeded-random.ts'
import { DAY, DEMO_DAYS, type DemoClicks, type DemoHit, type DemoVisitor } from './clicks.ts'
import { FORM_NAMES, FORMS, type FormName } from './company.ts'
import { createFields, createPerson, createSpamFields, pickNote } from './form-answers.ts'
import { DEMO_LINKS, type DemoLink, isOwnPage } from './links.ts'

/** A touch before the ids of rows are known. */
export interface DemoTouch extends Campaign {
  at: number
  kind: 'click' | 'referrer' | 'direct'
  /** The click itself, where it was one. */
  click: DemoHit | null
  referrer: string | null
  landingUrl: string | null
}

export interface DemoLead {
  at: number
  form: FormName
  person: DemoVisitor
  fields: [string, string][]
  status: 'new' | 'read' | 'archived' | 'spam'
  notes: string | null
  attribution: 'measured' | 'inferred' | 'none'
  click: DemoHit | null
  /** The landing of the visit it came in; null where no snippet saw it. */
  landing: DemoHit | null
  touches: DemoTouch[]
  /** The lead that it says again. */
  again?: DemoLead
}

const SECOND = 1000
const MINUTE = 60 * SECOND
/** Nobody takes longer to fill in a form; well within a visit, and within what is inferred from a click. */
const FILLED_WITHIN_MS = 14 * MINUTE
const TRIES = 3000
/** Of a hundred leads. */
const pickLeadSource = createWeightedPicker<'measured' | 'inferred' | 'visit' | 'nowhere'>([
  [60, 'measured'],
  [12, 'inferred'],
  [18, 'visit'],
  [10, 'nowhere'],
])
const SPAM = 11
const REPEATED = 7

export function generateLeads(
  random: Random,
  { hits, organic }: DemoClicks,
  now: number,
  count: number,
): DemoLead[] {
  const clicks = hits.filter((hit) => hit.outcome === 'redirect' && hit.class === 'human')
  const taken = new Set<DemoVisitor>()
  const emails = new Set<string>()
  const leads: DemoLead[] = []
  const formOf = createWeightedPicker(FORM_NAMES.map((name) => [FORMS[name].share, name] as const))
  while (leads.length < count) {
    const kind = pickLeadSource(random)
    const hit =
      kind === 'nowhere'
        ? undefined
        : findSender(random, kind === 'visit' ? organic : clicks, kind, taken, now)
    const origin = hit ? toOrigin(hit, random) : createUnknownOrigin(pick(hits, random), random, now)
    taken.add(origin.person)
    const form = DEMO_LINKS[hit?.link ?? -1]?.form ?? formOf(random)
    const age = now - origin.at
    const fields = createFields(form, createPerson(emails, random), random)
    const status = pickStatus(age, random)
    const notes = status !== 'new' && random() < 0.22 ? pickNote(form, random) : null
    leads.push({ ...origin, form, fields, status, notes })
  }
  const all = [...leads, ...createSpam(hits, random, now), ...repeatLeads(leads, random, now)]
  return all.sort((a, b) => a.at - b.at)
}

type Origin = Pick<DemoLead, 'at' | 'person' | 'attribution' | 'click' | 'landing' | 'touches'>

/** Somebody whose last click, or visit, this was before they sent the form. */
function findSender(random: Random, among: DemoHit[], kind: string, taken: Set<DemoVisitor>, now: number) {
  if (among.length === 0) return undefined
  for (let tries = 0; tries < TRIES; tries++) {
    const hit = pick(among, random)
    if (taken.has(hit.person) || now - hit.at < FILLED_WITHIN_MS) continue
    if (kind === 'visit') return hit
    const link = DEMO_LINKS[hit.link] as DemoLink
    if (link.form === undefined || !isOwnPage(link) || random() * 9 > (link.keen ?? 1)) continue
    if ((kind === 'measured') !== (hit.visit !== undefined)) continue
    const next = hit.person.clicks.find((other) => other.at > hit.at)
    if (next === undefined || next.at - hit.at > FILLED_WITHIN_MS) return hit
  }
  return undefined
}

function toOrigin(hit: DemoHit, random: Random): Origin {
  const { person, visit } = hit
  const at =
    (hit.landedAt ?? hit.at) +
    Math.floor((25 * SECOND + random() ** 2 * (FILLED_WITHIN_MS - 30 * SECOND)) | 0)
  const origin = { at, person, landing: visit?.landing ?? null }
  if (hit.link === -1) return { ...origin, attribution: 'none', click: null, touches: [toTouch(hit)] }
  if (!visit) {
    // All that is known is the click: no snippet has seen the page.
    const bare = { ...toTouch(hit), at: hit.at, ...NO_CAMPAIGN, referrer: null, landingUrl: null }
    return { ...origin, attribution: 'inferred', click: hit, touches: [bare] }
  }
  const touches = visit.first === hit ? [toTouch(hit)] : [toTouch(visit.first), toTouch(hit)]
  return { ...origin, attribution: 'measured', click: hit, touches }
}

const NO_CAMPAIGN: Campaign = {
  utmSource: null,
  utmMedium: null,
  utmCampaign: null,
  utmTerm: null,
  utmContent: null,
}

function toTouch(hit: DemoHit): DemoTouch {
  const link = DEMO_LINKS[hit.link]
  const { referrer } = hit.referrer
  return {
    ...hit.campaign,
    at: hit.landedAt ?? hit.at,
    kind: link ? 'click' : referrer === null ? 'direct' : 'referrer',
    click: link ? hit : null,
    referrer,
    landingUrl: link ? stripQuery(link.url) : 'https://www.example.com/',
  }
}

/** Whoever lets no snippet run, and clicked no link. */
function createUnknownOrigin(like: DemoHit, random: Random, now: number): Origin {
  const person: DemoVisitor = {
    ...like.person,
    visitor: `${like.person.visitor.slice(0, -3)}${Math.floor(100 + random() * 900)}`,
  }
  return {
    at: Math.min(like.at + MINUTE, now),
    person,
    attribution: 'none',
    click: null,
    landing: null,
    touches: [],
  }
}

/** What is new waits for somebody to read it; what is older was read, and then put away. */
function pickStatus(age: number, random: Random): DemoLead['status'] {
  const dice = random()
  if (age < 1.5 * DAY) return dice < 0.8 ? 'new' : 'read'
  if (age < 7 * DAY) return dice < 0.12 ? 'new' : dice < 0.75 ? 'read' : 'archived'
  return dice < 0.3 ? 'read' : 'archived'
}

const createSpam = (hits: DemoHit[], random: Random, now: number): DemoLead[] =>
  Array.from({ length: SPAM }, (_, n) => {
    const origin = createUnknownOrigin(pick(hits, random), random, now)
    return { ...origin, form: 'contact', fields: createSpamFields(random, n), status: 'spam', notes: null }
  })

/** Somebody who was not sure whether the first click on the button did anything. */
const repeatLeads = (leads: DemoLead[], random: Random, now: number): DemoLead[] =>
  leads
    .filter((lead) => lead.at < now - MINUTE)
    .filter((_, n, old) => n % Math.max(1, Math.floor(old.length / REPEATED)) === 0)
    .slice(0, REPEATED)
    .map((lead) => {
      const later = lead.at + 3 * SECOND + Math.floor(random() * 20 * SECOND)
      return { ...lead, at: later, again: lead, notes: null, status: 'archived' }
    })

export interface DemoAttempts {
  form: FormName
  daysAgo: number
  outcome: 'stored' | 'honeypot' | 'validation' | 'rateLimited'
  field: string
  attempts: number
}

/** How often sending a form ended how, day by day: for one that is stored another is lost now and then. */
export function generateAttempts(random: Random, leads: DemoLead[], now: number): DemoAttempts[] {
  const dayOf = (at: number) => Math.floor(now / DAY) - Math.floor(at / DAY)
  const attempts: DemoAttempts[] = []
  for (const form of FORM_NAMES) {
    const days = Map.groupBy(
      leads.filter((lead) => lead.form === form),
      ({ at }) => dayOf(at),
    )
    for (let daysAgo = DEMO_DAYS; daysAgo >= 0; daysAgo--) {
      const stored = days.get(daysAgo)?.length ?? 0
      const wrong = Math.floor(random() * 1.25 + stored * 0.15 * random())
      const add = (outcome: DemoAttempts['outcome'], count: number, field = '') => {
        if (count > 0) attempts.push({ form, daysAgo, outcome, field, attempts: count })
      }
      add('stored', stored)
      add('validation', wrong)
      add('validation', wrong, pick(FORMS[form].requiredFields, random))
      add('honeypot', Math.floor(random() ** 2 * (form === 'contact' ? 5 : 2.2)))
      add('rateLimited', random() < 0.02 ? 2 : 0)
    }
  }
  return attempts
}
