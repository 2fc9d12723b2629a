// Generates the leads of the demo from its clicks, so that leads and clicks agree. Pure, as clicks.ts.

import type { Campaign } from '../../features/visitors/campaign.ts'
import { stripQuery } from '../../features/visitors/referrer.ts'
import { createWeightedPicker, pick, type Random } from '../../lib/seeded-random.ts'
import { DAY, DEMO_DAYS, type DemoClicks, type DemoHit, type DemoVisitor } from './clicks.ts'
import { FORM_NAMES, FORMS, type FormName } from './company.ts'
import { createFields, createPerson, createSpamFields, pickNote } from './form-answers.ts'
import { DEMO_LINKS, type DemoLink, findVariant, isOwnPage } from './links.ts'

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
  /** The landing of the lead's visit; null where no snippet ran. */
  landing: DemoHit | null
  touches: DemoTouch[]
  /** The lead that this one repeats. */
  again?: DemoLead
}

const SECOND = 1000
const MINUTE = 60 * SECOND
/** The longest time to fill in a form: shorter than a visit, and than the time in which a click is inferred. */
const FILLED_WITHIN_MS = 14 * MINUTE
const TRIES = 6000
/** The greatest `keen` of a link or of a variant. */
const KEENEST = 18
/** The weights are per hundred leads. */
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
  const senders = new Set<DemoVisitor>()
  const emails = new Set<string>()
  const leads: DemoLead[] = []
  const pickForm = createWeightedPicker(FORM_NAMES.map((name) => [FORMS[name].share, name] as const))
  while (leads.length < count) {
    const kind = pickLeadSource(random)
    const hit =
      kind === 'nowhere'
        ? undefined
        : findSender(random, kind === 'visit' ? organic : clicks, kind, senders, now)
    const origin = hit ? toOrigin(hit, random) : createUnknownOrigin(pick(hits, random), random, now)
    senders.add(origin.person)
    const form = DEMO_LINKS[hit?.link ?? -1]?.form ?? pickForm(random)
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

/** Finds a hit that can be the visitor's last click, or visit, before the form. */
function findSender(random: Random, hits: DemoHit[], kind: string, senders: Set<DemoVisitor>, now: number) {
  if (hits.length === 0) return undefined
  for (let tries = 0; tries < TRIES; tries++) {
    const hit = pick(hits, random)
    if (senders.has(hit.person) || now - hit.at < FILLED_WITHIN_MS) continue
    if (kind === 'visit') return hit
    const link = DEMO_LINKS[hit.link] as DemoLink
    const keen = findVariant(link, hit.person.visitor)?.keen ?? link.keen ?? 1
    if (link.form === undefined || !isOwnPage(link) || random() * KEENEST > keen) continue
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
    // Without the snippet, only the facts that the click recorded are known.
    const touch = { ...toTouch(hit), at: hit.at, landingUrl: null }
    return { ...origin, attribution: 'inferred', click: hit, touches: [touch] }
  }
  const touches = visit.first === hit ? [toTouch(hit)] : [toTouch(visit.first), toTouch(hit)]
  return { ...origin, attribution: 'measured', click: hit, touches }
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
    landingUrl: link
      ? stripQuery(findVariant(link, hit.person.visitor)?.url ?? link.url)
      : 'https://www.example.com/',
  }
}

/** The origin of a visitor who blocks the snippet and clicked no link. */
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

/** Most leads of the last days are new; older ones are read, and then archived. */
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

/** Leads that were sent twice, by people who were not sure whether the first click on the button worked. */
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

/** Outcomes of attempts to send a form, for each form and day: most are stored, and a few are lost. */
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
