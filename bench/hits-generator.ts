// Hits as an instance of 50 workspaces would see them over 300 days: the same seed, the same hits, byte for byte.
// Lines are put together from ready-made pieces, so that the generator is several times faster than what it feeds.

import { createRandom, distributeByWeight, pick, type Random } from '../server/lib/seeded-random.ts'
import { HIT_OUTCOMES } from '../server/storage/hits/hit.ts'

export const GENERATED_WORKSPACES = 50
export const GENERATED_LINKS = 50_000
export const GENERATED_DAYS = 300
/** Workspace 1 has a quarter of all hits, workspace 6 has 4 %. */
export const BIGGEST = 1
export const FOUR_PERCENT = 6

/** Where the 300 days end. */
export const END = Date.UTC(2026, 9, 28)

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Clicks of one visitor on one day. */
const CLICKS_PER_VISITOR = 4

export interface GeneratedBatch {
  number: number
  hits: number
  /** Newline-delimited JSON, a `Hit` a line, as batch files have it. */
  lines: string
}

export interface Generation {
  hits: number
  seed?: number
  perBatch?: number
}

/** In the order of their time, as they arrive. */
export function* generateHits({ hits, seed = 1, perBatch = 100_000 }: Generation): Generator<GeneratedBatch> {
  const random = createRandom(seed)
  const world = makeWorld(random)
  const hours = hitsByHour(hits)
  const start = END - GENERATED_DAYS * DAY
  const visitorOf = visits(random, world.visitor)
  let lines: string[] = []
  let number = 0
  let id = 4096
  for (let hour = 0; hour < hours.length; hour++) {
    const count = hours[hour] as number
    for (let n = 0; n < count; n++) {
      // Records of the spool follow each other at their own lengths.
      id += 120 + Math.floor(random() * 200)
      const at = start + hour * HOUR + Math.floor(((n + random()) / count) * HOUR)
      const workspace = pick(world.workspaces, random)
      const link = world.linkOf(workspace, random)
      const visitor = visitorOf(workspace, hour)
      lines.push(
        `{"id":${id},"at":${at},"workspaceId":${workspace},"linkId":${link},"outcome":"${outcomeOf(random)}",` +
          `"trigger":"${random() < 0.06 ? 'qr' : 'link'}",${visitor},${world.referrer(random)},` +
          `${world.campaigns[link % world.campaigns.length]},"unknownSlug":null}\n`,
      )
      if (lines.length === perBatch) {
        yield { number: ++number, hits: lines.length, lines: lines.join('') }
        lines = []
      }
    }
  }
  if (lines.length > 0) yield { number: ++number, hits: lines.length, lines: lines.join('') }
}

/** People click a few times within the hour, and some come back on the same day; the next day nobody knows them. */
function visits(random: Random, newVisitor: (random: Random) => string) {
  const here = new Map<number, { day: number; hour: number; visitors: string[]; before: number }>()
  return (workspace: number, hour: number): string => {
    const day = Math.floor(hour / 24)
    let place = here.get(workspace)
    if (place?.day !== day) {
      place = { day, hour, visitors: [], before: 0 }
      here.set(workspace, place)
    }
    const { visitors } = place
    if (place.hour !== hour) Object.assign(place, { hour, before: visitors.length })
    if (visitors.length === 0 || random() < 1 / CLICKS_PER_VISITOR) {
      const visitor = newVisitor(random)
      visitors.push(visitor)
      return visitor
    }
    const from = place.before < visitors.length && random() < 0.85 ? place.before : 0
    return visitors[from + Math.floor(random() * (visitors.length - from))] as string
  }
}

const outcomeOf = (random: () => number) => {
  const dice = random()
  return dice < 0.97
    ? HIT_OUTCOMES[0]
    : HIT_OUTCOMES[1 + (Math.floor(dice * 100_000) % (HIT_OUTCOMES.length - 1))]
}

/** A table to draw from by weight with one random number: 4,096 slots. */
function weighted<T>(items: readonly T[], weights: readonly number[]): T[] {
  const total = weights.reduce((sum, each) => sum + each, 0)
  const table: T[] = []
  let reached = 0
  for (const [index, item] of items.entries()) {
    reached += weights[index] as number
    while (table.length < Math.round((reached / total) * 4096)) table.push(item)
  }
  return table
}

const zipf = (length: number, exponent = 1) => Array.from({ length }, (_, n) => 1 / (n + 1) ** exponent)

/** More in the afternoon (UTC) than at night, less at weekends, a third more at the end than at the beginning. */
function hitsByHour(hits: number): number[] {
  const weights = Array.from({ length: GENERATED_DAYS * 24 }, (_, hour) => {
    const day = Math.floor(hour / 24)
    const daily = 1 + 0.7 * Math.sin(((hour % 24) - 9) * (Math.PI / 12))
    const weekly = [1, 1.05, 1.05, 1, 0.95, 0.6, 0.55][day % 7] as number
    return daily * weekly * (1 + day / GENERATED_DAYS / 3)
  })
  return distributeByWeight(hits, weights)
}

function makeWorld(random: Random) {
  const ids = Array.from({ length: GENERATED_WORKSPACES }, (_, n) => n + 1)
  const fixed = [0.25, 0.13, 0.09, 0.07, 0.05, 0.04]
  const rest = zipf(GENERATED_WORKSPACES - fixed.length, 0.5)
  const left = (1 - fixed.reduce((a, b) => a + b)) / rest.reduce((a, b) => a + b)
  const weights = [...fixed, ...rest.map((each) => each * left)]
  const workspaces = weighted(ids, weights)
  // As many links as its share, numbered as they were made: one workspace's among the others'.
  const links = new Map(ids.map((id) => [id, [] as number[]]))
  for (let link = 1; link <= GENERATED_LINKS; link++) links.get(pick(workspaces, random))?.push(link)
  const linkOf = (workspace: number, random: Random) => {
    const own = links.get(workspace) as number[]
    // n^u has the density 1/x: Zipf's law without a table of its own.
    return own[Math.floor(own.length ** random()) - 1] as number
  }
  return {
    workspaces,
    shares: [0, ...weights],
    linkOf,
    visitor: visitorMaker(),
    referrer: referrerPicker(),
    campaigns: campaignPieces(random),
  }
}

const CONTINENTS = ['EU', 'NA', 'AS', 'SA', 'AF', 'OC']
const COUNTRIES = (
  'US DE GB FR BR IN CA NL ES IT JP PL AU MX SE CH AT BE TR ID PT DK NO FI CZ IE AR CO CL KR TH VN PH MY SG HK TW ' +
  'ZA NG KE EG MA IL AE SA RO HU GR UA BG HR SK SI RS LT LV EE NZ PE EC'
).split(' ')

/** Who a visitor is stays the same for their day: the piece of a line that says it. */
function visitorMaker() {
  const countries = weighted(
    COUNTRIES.map((country, n) => ({ country, continent: CONTINENTS[n % CONTINENTS.length] as string })),
    zipf(COUNTRIES.length),
  )
  const systems = weighted(
    [
      ['mobile', 'Mobile Safari', 'iOS'],
      ['mobile', 'Chrome', 'Android'],
      ['desktop', 'Chrome', 'Windows'],
      ['desktop', 'Chrome', 'macOS'],
      ['desktop', 'Safari', 'macOS'],
      ['desktop', 'Edge', 'Windows'],
      ['desktop', 'Firefox', 'Windows'],
      ['mobile', 'Instagram', 'iOS'],
      ['mobile', 'Samsung Internet', 'Android'],
      ['tablet', 'Mobile Safari', 'iOS'],
      ['desktop', 'Firefox', 'Linux'],
      ['desktop', 'Opera', 'Windows'],
      ['desktop', 'Chrome', 'Chrome OS'],
    ],
    zipf(13, 0.8),
  )
  const classes = weighted(['human', 'bot', 'prefetch', 'head'], [88, 9, 2, 1])
  return (random: Random) => {
    const { country, continent } = pick(countries, random)
    const [device, browser, os] = pick(systems, random) as [string, string, string]
    // Places are known only with a database of the operator's own.
    const place = random() < 0.1 ? Math.floor(random() * 40) : -1
    const region = place < 0 ? 'null' : `"${country}-${place % 12}"`
    const city = place < 0 ? 'null' : `"City ${country} ${place}"`
    // 63 bits, so that PostgreSQL can keep it as a bigint.
    const hash =
      (BigInt(Math.floor(random() * 2_147_483_648)) << 32n) | BigInt(Math.floor(random() * 4_294_967_296))
    return (
      `"class":"${pick(classes, random)}","visitor":"${hash}","country":"${country}","region":${region},` +
      `"city":${city},"continent":"${continent}","device":"${device}","browser":"${browser}","os":"${os}"`
    )
  }
}

const DIRECT = '"referrer":null,"referrerUrl":null'

/** 500 sites. Browsers send the origin alone since 2020 (`strict-origin-when-cross-origin`), but for who asks otherwise. */
function referrerPicker() {
  const hosts = Array.from(
    { length: 500 },
    (_, n) => `${['news', 'blog', 'shop', 'app'][n % 4]}-${n}.example`,
  )
  const table = weighted(hosts, zipf(500))
  return (random: Random) => {
    if (random() < 0.4) return DIRECT
    const host = pick(table, random)
    const path = random() < 0.95 ? '' : `${Math.floor(3000 ** random())}-what-is-new`
    return `"referrer":"${host}","referrerUrl":"https://${host}/${path}"`
  }
}

/** Campaigns belong to links; two in three have none. */
function campaignPieces(random: Random): string[] {
  const text = (value: string | null) => (value === null ? 'null' : `"${value}"`)
  return Array.from({ length: 3001 }, (_, n) => {
    const has = n % 3 === 0
    const source = ['newsletter', 'instagram', 'google', 'linkedin', 'partner'][
      Math.floor(random() * 5)
    ] as string
    const medium = ['email', 'social', 'cpc', 'affiliate'][Math.floor(random() * 4)] as string
    const values: [string, string | null][] = [
      ['utmSource', source],
      ['utmMedium', medium],
      ['utmCampaign', `campaign-${Math.floor(random() * 400)}`],
      ['utmTerm', random() < 0.2 ? `term ${Math.floor(random() * 50)}` : null],
      ['utmContent', random() < 0.3 ? `variant-${Math.floor(random() * 6)}` : null],
    ]
    return values.map(([name, value]) => `"${name}":${text(has ? value : null)}`).join(',')
  })
}
