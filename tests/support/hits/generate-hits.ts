// Generates the hits of 50 workspaces over 300 days, the same each time. The lines consist of prepared pieces, so
// that the generator is several times faster than the engine that it feeds.

import {
  createRandom,
  distributeByWeight,
  pick,
  type Random,
  randomDigits64,
} from '../../../server/lib/seeded-random.ts'
import { HIT_OUTCOMES } from '../../../server/storage/hits/hit.ts'

export const GENERATED_WORKSPACES = 50
export const GENERATED_LINKS = 50_000
export const GENERATED_DAYS = 300
/** Workspace 1 has a quarter of all hits, workspace 6 has 4 %. */
export const BIGGEST = 1
export const FOUR_PERCENT = 6

/** The end of the 300 days. */
export const END = Date.UTC(2026, 9, 28)

const PER_BATCH = 100_000
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Clicks of one visitor on one day. */
const CLICKS_PER_VISITOR = 4

interface GeneratedBatch {
  number: number
  /** Newline-delimited JSON, a `Hit` a line, as batch files have it. */
  lines: string
}

/** Generates hits in the order of their time. */
export function* generateHits({ hits }: { hits: number }): Generator<GeneratedBatch> {
  const random = createRandom(1)
  const world = createWorld(random)
  const hours = countByHour(hits)
  const start = END - GENERATED_DAYS * DAY
  const pickVisitor = createVisitorPicker(random, world.createVisitor)
  let lines: string[] = []
  let number = 0
  let id = 4096
  for (let hour = 0; hour < hours.length; hour++) {
    const count = hours[hour] as number
    for (let n = 0; n < count; n++) {
      // An id is a position in the spool, so ids differ by the length of a record.
      id += 120 + Math.floor(random() * 200)
      const at = start + hour * HOUR + Math.floor(((n + random()) / count) * HOUR)
      const workspace = pick(world.workspaces, random)
      const link = world.pickLink(workspace, random)
      const visitor = pickVisitor(workspace, hour)
      lines.push(
        `{"id":${id},"at":${at},"workspaceId":${workspace},"linkId":${link},"outcome":"${pickOutcome(random)}",` +
          `"trigger":"${random() < 0.06 ? 'qr' : 'link'}",${visitor},${world.pickReferrer(random)},` +
          `${world.campaigns[link % world.campaigns.length]},"unknownSlug":null}\n`,
      )
      if (lines.length === PER_BATCH) {
        yield { number: ++number, lines: lines.join('') }
        lines = []
      }
    }
  }
  if (lines.length > 0) yield { number: ++number, lines: lines.join('') }
}

/** A visitor clicks a few times within the hour, and may come back on the same day. Visitor ids change every day. */
function createVisitorPicker(random: Random, createVisitor: (random: Random) => string) {
  const today = new Map<number, { day: number; hour: number; visitors: string[]; before: number }>()
  return (workspace: number, hour: number): string => {
    const day = Math.floor(hour / 24)
    let state = today.get(workspace)
    if (state?.day !== day) {
      state = { day, hour, visitors: [], before: 0 }
      today.set(workspace, state)
    }
    const { visitors } = state
    if (state.hour !== hour) Object.assign(state, { hour, before: visitors.length })
    if (visitors.length === 0 || random() < 1 / CLICKS_PER_VISITOR) {
      const visitor = createVisitor(random)
      visitors.push(visitor)
      return visitor
    }
    const from = state.before < visitors.length && random() < 0.85 ? state.before : 0
    return visitors[from + Math.floor(random() * (visitors.length - from))] as string
  }
}

const pickOutcome = (random: Random) => {
  const dice = random()
  return HIT_OUTCOMES[dice < 0.97 ? 0 : 1 + (Math.floor(dice * 100_000) % (HIT_OUTCOMES.length - 1))]
}

/** A table of 4,096 slots to pick from by weight: faster than `createWeightedPicker`, and less exact. */
function createWeightedTable<T>(items: readonly T[], weights: readonly number[]): T[] {
  const slots = distributeByWeight(4096, weights)
  return items.flatMap((item, index) => Array<T>(slots[index] as number).fill(item))
}

const zipfWeights = (length: number, exponent = 1) =>
  Array.from({ length }, (_, n) => 1 / (n + 1) ** exponent)

/** More in the afternoon (UTC) than at night, fewer at weekends, and a third more at the end than at the start. */
function countByHour(hits: number): number[] {
  const weights = Array.from({ length: GENERATED_DAYS * 24 }, (_, hour) => {
    const day = Math.floor(hour / 24)
    const daily = 1 + 0.7 * Math.sin(((hour % 24) - 9) * (Math.PI / 12))
    const weekly = [1, 1.05, 1.05, 1, 0.95, 0.6, 0.55][day % 7] as number
    return daily * weekly * (1 + day / GENERATED_DAYS / 3)
  })
  return distributeByWeight(hits, weights)
}

function createWorld(random: Random) {
  const ids = Array.from({ length: GENERATED_WORKSPACES }, (_, n) => n + 1)
  const fixed = [0.25, 0.13, 0.09, 0.07, 0.05, 0.04]
  const rest = zipfWeights(GENERATED_WORKSPACES - fixed.length, 0.5)
  const scale = (1 - fixed.reduce((a, b) => a + b)) / rest.reduce((a, b) => a + b)
  const workspaces = createWeightedTable(ids, [...fixed, ...rest.map((weight) => weight * scale)])
  // A workspace has as many links as its share of hits. The ids of its links are between those of other workspaces.
  const links = new Map(ids.map((id) => [id, [] as number[]]))
  for (let link = 1; link <= GENERATED_LINKS; link++) links.get(pick(workspaces, random))?.push(link)
  const pickLink = (workspace: number, random: Random) => {
    const own = links.get(workspace) as number[]
    // n^u has the density 1/x: Zipf's law without a table of its own.
    return own[Math.floor(own.length ** random()) - 1] as number
  }
  const pieces = { createVisitor: createVisitorFactory(), pickReferrer: createReferrerPicker() }
  return { workspaces, pickLink, ...pieces, campaigns: createCampaignPieces(random) }
}

const CONTINENTS = ['EU', 'NA', 'AS', 'SA', 'AF', 'OC']
const COUNTRIES = (
  'US DE GB FR BR IN CA NL ES IT JP PL AU MX SE CH AT BE TR ID PT DK NO FI CZ IE AR CO CL KR TH VN PH MY SG HK TW ' +
  'ZA NG KE EG MA IL AE SA RO HU GR UA BG HR SK SI RS LT LV EE NZ PE EC'
).split(' ')
const SYSTEMS = (
  'mobile,Mobile Safari,iOS;mobile,Chrome,Android;desktop,Chrome,Windows;desktop,Chrome,macOS;desktop,Safari,macOS;' +
  'desktop,Edge,Windows;desktop,Firefox,Windows;mobile,Instagram,iOS;mobile,Samsung Internet,Android;' +
  'tablet,Mobile Safari,iOS;desktop,Firefox,Linux;desktop,Opera,Windows;desktop,Chrome,Chrome OS'
).split(';')

/** Creates the piece of a line about the visitor, which is the same for all hits of the visitor's day. */
function createVisitorFactory() {
  const countries = createWeightedTable(
    COUNTRIES.map((country, n) => ({ country, continent: CONTINENTS[n % CONTINENTS.length] as string })),
    zipfWeights(COUNTRIES.length),
  )
  const systems = createWeightedTable(SYSTEMS, zipfWeights(SYSTEMS.length, 0.8))
  const classes = createWeightedTable(['human', 'bot', 'prefetch', 'head'], [88, 9, 2, 1])
  return (random: Random) => {
    const { country, continent } = pick(countries, random)
    const [device, browser, os] = pick(systems, random).split(',')
    // Regions and cities need a database of the operator's own.
    const place = random() < 0.1 ? Math.floor(random() * 40) : -1
    const region = place < 0 ? 'null' : `"${country}-${place % 12}"`
    const city = place < 0 ? 'null' : `"City ${country} ${place}"`
    return (
      `"class":"${pick(classes, random)}","visitor":"${randomDigits64(random)}","country":"${country}","region":${region},` +
      `"city":${city},"continent":"${continent}","device":"${device}","browser":"${browser}","os":"${os}"`
    )
  }
}

/** 500 sites. Browsers send only the origin (`strict-origin-when-cross-origin`), unless a site asks for more. */
function createReferrerPicker() {
  const kinds = ['news', 'blog', 'shop', 'app']
  const hosts = Array.from({ length: 500 }, (_, n) => `${kinds[n % 4]}-${n}.example`)
  const table = createWeightedTable(hosts, zipfWeights(500))
  return (random: Random) => {
    if (random() < 0.4) return '"referrer":null,"referrerUrl":null'
    const host = pick(table, random)
    const path = random() < 0.95 ? '' : `${Math.floor(3000 ** random())}-what-is-new`
    return `"referrer":"${host}","referrerUrl":"https://${host}/${path}"`
  }
}

/** Campaigns belong to links. Two of three links have no campaign. */
function createCampaignPieces(random: Random): string[] {
  const sources = ['newsletter', 'instagram', 'google', 'linkedin', 'partner']
  const mediums = ['email', 'social', 'cpc', 'affiliate']
  return Array.from({ length: 3001 }, (_, n) => {
    const values = {
      utmSource: pick(sources, random),
      utmMedium: pick(mediums, random),
      utmCampaign: `campaign-${Math.floor(random() * 400)}`,
      utmTerm: random() < 0.2 ? `term ${Math.floor(random() * 50)}` : null,
      utmContent: random() < 0.3 ? `variant-${Math.floor(random() * 6)}` : null,
    }
    const text = (value: string | null) => (n % 3 === 0 && value !== null ? `"${value}"` : 'null')
    return Object.entries(values)
      .map(([name, value]) => `"${name}":${text(value)}`)
      .join(',')
  })
}
