// Random hits of about a hundred days, for the proof that answers from roll-ups are exact: days around changes of the
// clock, visitors with one click and with many, values that look alike, and tails of rare values.

import { createRandom, pick, type Random } from '../../../server/lib/seeded-random.ts'
import { DAY_MS } from '../../../server/lib/utc-day.ts'
import {
  HIT_CLASSES,
  HIT_DIMENSIONS,
  HIT_OUTCOMES,
  type Hit,
  type HitDimension,
  NO_VISITOR,
} from '../../../server/storage/hits/hit.ts'
import { PEOPLE_COLUMNS, SLOT_MS, toDay, toMonth } from '../../../server/storage/hits/rollups/rollup.ts'

/** A moment about which clocks change, and zones in which they do. */
const CLOCK_CHANGES: readonly [moment: string, zones: string[]][] = [
  ['2026-03-29', ['Europe/Berlin', 'Europe/London', 'Atlantic/Azores']],
  ['2026-03-08', ['America/New_York', 'America/Havana', 'America/St_Johns']],
  ['2025-10-05', ['Australia/Lord_Howe', 'Australia/Sydney', 'Pacific/Auckland', 'Pacific/Chatham']],
  ['2025-11-02', ['America/Los_Angeles', 'Europe/Berlin', 'America/Scoresbysund']],
  // Their clocks change at midnight, so a day begins at 1:00.
  ['2025-09-07', ['America/Santiago', 'Pacific/Easter']],
  ['2018-11-04', ['America/Sao_Paulo', 'America/Asuncion']],
  ['2022-03-22', ['Asia/Tehran', 'Asia/Gaza', 'Asia/Beirut']],
  ['2024-02-29', ['Africa/Cairo', 'Asia/Kathmandu', 'Asia/Kolkata', 'Africa/Casablanca']],
  // A day that Samoa skipped.
  ['2011-12-30', ['Pacific/Apia', 'Pacific/Fakaofo']],
  ['2015-08-15', ['Asia/Pyongyang', 'Australia/Eucla']],
  ['2016-05-01', ['America/Caracas', 'Pacific/Marquesas']],
  // Until this day the offset was -0:44:30, which is no multiple of 15 minutes.
  ['1972-01-07', ['Africa/Monrovia']],
  // Until this day it was -10:40.
  ['1979-10-01', ['Pacific/Kiritimati']],
]

/** The dimensions that roll-ups have. A question about variants reads hits. */
export type RolledDimension = Exclude<HitDimension, 'variant'>
export const ROLLED_DIMENSIONS = HIT_DIMENSIONS.filter(
  (column): column is RolledDimension => column !== 'variant',
)

/** The values of each dimension: null, its name, and values that differ only in their case. */
const VALUES: Record<Exclude<HitDimension, 'trigger' | 'variant'>, (string | null)[]> = {
  country: ['US', 'DE', 'FR', 'us', null, 'Unknown'],
  region: ['CA', 'BY', null],
  city: ['Paris', 'paris', 'Bonn', '', null, 'Unknown'],
  continent: ['EU', 'NA', null],
  device: ['mobile', 'desktop', 'Mobile', null, 'unknown'],
  browser: ['Chrome', 'chrome', 'Safari', 'Unknown'],
  os: ['iOS', 'Windows', 'IOS', null, 'Unknown'],
  referrer: ['a.example', 'facebook.com', 'm.facebook.com', 'google.com', 't.co', '', null, '(direct)'],
  referrerUrl: ['https://a.example/', 'https://A.example/', null, '(direct)'],
  utmSource: ['s', 'S', 'newsletter', 'google-ads', null, 'Unknown'],
  utmMedium: ['cpc', 'CPC', 'email', 'paid_x', '', null],
  utmCampaign: ['c', 'd', 'é', 'É', null, 'Unknown'],
  utmTerm: [null, 'Unknown', 'x'],
  utmContent: ['x', null],
}
/** Dimensions with a tail of rare values, and how many these are. */
const TAILS: Partial<Record<HitDimension, number>> = {
  city: 12,
  referrerUrl: 30,
  utmTerm: 70,
  utmCampaign: 9,
}
const LINKS: Record<number, number> = { 1: 60, 2: 6, 9: 3 }
const VISITORS = 14

export interface HitWorld {
  seed: number
  firstDay: number
  /** How many days have hits. */
  days: number
  /** Zones whose clocks change in these days. */
  zones: string[]
  hits: Hit[]
}

export const WORLD_WORKSPACES = Object.keys(LINKS).map(Number)

export const listWorldValues = (column: HitDimension): readonly (string | null)[] =>
  column === 'trigger'
    ? ['link', 'qr']
    : column === 'variant'
      ? [null]
      : [...VALUES[column], ...(TAILS[column] ? ['tail 0', 'tail 1', 'tail 5'] : [])]

/** @param busy about how many visitors the largest workspace has on a day */
export function createHitWorld(seed: number, busy = 8, daysMin = 75): HitWorld {
  const random = createRandom(seed * 7919 + 1)
  const [moment, zones] = CLOCK_CHANGES[seed % CLOCK_CHANGES.length] as (typeof CLOCK_CHANGES)[number]
  const days = daysMin + pickInt(Math.ceil(daysMin * (daysMin < 75 ? 0.2 : 0.6)), random)
  const middle = toDay(Date.parse(moment))
  // A short world begins with a month, so that it has a whole one.
  const firstDay =
    daysMin < 75
      ? toMonth(middle) - 1 - pickInt(3, random)
      : middle - Math.floor(days * (0.25 + random() * 0.5))
  const world: HitWorld = { seed, firstDay, days, zones, hits: [] }
  for (let day = firstDay; day < firstDay + days; day++)
    world.hits.push(...createHitsOfDay(world, day, busy, random))
  return world
}

/** Hits of a day: further ones are of the same visitors. */
export function createHitsOfDay({ seed }: HitWorld, day: number, busy: number, random: Random): Hit[] {
  const mood = createRandom(seed * 1_000_003 + day)
  // A day without hits, and one on which nobody is a person.
  if (mood() < 0.05) return []
  const onlyBots = mood() < 0.03
  /** On most days the values of a visitor stay the same. */
  const changes = Object.fromEntries(ROLLED_DIMENSIONS.map((column) => [column, mood() < 0.4 ? 0.3 : 0]))
  // In half of the worlds nobody ever moves, so that whole months have no mixed day.
  const moves = seed % 2 === 0 && mood() < 0.25 ? 0.08 : 0
  for (const column of PEOPLE_COLUMNS) changes[column] = moves
  const joins = mood() < 0.3 ? 0.1 : 0
  const hits: Hit[] = []
  for (const workspaceId of WORLD_WORKSPACES) {
    const count = pickInt(1 + Math.ceil(busy / (workspaceId === 1 ? 1 : 3)), random)
    for (let n = 0; n < count; n++) {
      const number = pickInt(VISITORS, random)
      const own = createRandom(((seed * 31 + day) * 31 + workspaceId) * 31 + number)
      const visitor = toVisitor(number, random)
      const person = createPerson(workspaceId, own)
      // An import has brought the hits of some weeks.
      if (person.importId !== null) person.importId = 1 + ((day >> 3) % 3)
      const times = pickTimes(day, random)
      for (const at of times) {
        const other = createPerson(workspaceId, random)
        const hit: Hit = { ...person, id: 0, at, visitor, linkId: other.linkId, trigger: other.trigger }
        if (random() < 0.5) hit.linkId = person.linkId
        for (const column of ROLLED_DIMENSIONS)
          if (random() < (changes[column] ?? 0)) Object.assign(hit, { [column]: other[column] })
        if (random() < joins) hit.importId = hit.importId === null ? 1 + ((day >> 3) % 3) : null
        hit.outcome = random() < 0.84 ? 'redirect' : random() < 0.5 ? 'landing' : pick(HIT_OUTCOMES, random)
        hit.class = onlyBots ? 'bot' : random() < 0.9 ? 'human' : pick(HIT_CLASSES, random)
        hits.push(hit)
      }
    }
  }
  return hits
}

/** Visitor 0 is nobody. The upper 16 bits of a visitor do not count: the engine puts the day there. */
function toVisitor(number: number, random: Random): string {
  if (number === 0) return NO_VISITOR
  const upper = random() < 0.1 ? pickInt(65_536, random) : 0
  return ((BigInt(upper) << 48n) | BigInt(number)).toString()
}

function createPerson(workspaceId: number, random: Random): Omit<Hit, 'id' | 'at' | 'visitor'> {
  const values = ROLLED_DIMENSIONS.map((column) => [column, pickValue(column, random)] as const)
  return {
    ...(Object.fromEntries(values) as unknown as Pick<Hit, HitDimension>),
    workspaceId,
    linkId: 1 + Math.floor((LINKS[workspaceId] as number) * random() ** 3),
    outcome: 'redirect',
    class: 'human',
    trigger: random() < 0.7 ? 'link' : 'qr',
    unknownSlug: null,
    params: null,
    importId: random() < 0.25 ? 1 : null,
  }
}

function pickValue(column: RolledDimension, random: Random): string | null {
  if (column === 'trigger') return 'link'
  const tail = TAILS[column]
  if (tail && random() < 0.5) return `tail ${Math.floor(tail * random() ** 2)}`
  return pick(VALUES[column], random)
}

/** When a visitor clicks on a day: once or many times, at the bounds of quarter hours, and of the day. */
function pickTimes(day: number, random: Random): number[] {
  const count = random() < 0.55 ? 1 : random() < 0.7 ? 2 + pickInt(2, random) : 4 + pickInt(9, random)
  const slot = pickInt(96, random)
  const staysInSlot = random() < 0.25
  return Array.from({ length: count }, () => {
    const within = (staysInSlot ? slot : pickInt(96, random)) * SLOT_MS
    const at = pick([0, SLOT_MS - 1, pickInt(SLOT_MS, random), pickInt(SLOT_MS, random)], random)
    if (!staysInSlot && random() < 0.08) return day * DAY_MS + pick([0, DAY_MS - 1], random)
    return day * DAY_MS + within + at
  })
}

export const pickInt = (below: number, random: Random) => Math.floor(random() * below)
