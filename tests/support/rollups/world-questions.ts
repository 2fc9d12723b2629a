// Random questions about a random world of hits. Most of them are of the kinds that roll-ups can answer, and many ask for
// whole months: there the rules are finest.

import {
  type Granularity,
  listBucketStarts,
  type TimeRange,
} from '../../../server/features/analytics/timeline.ts'
import { createWeightedPicker, pick, type Random } from '../../../server/lib/seeded-random.ts'
import { DAY_MS } from '../../../server/lib/utc-day.ts'
import { toNullLabel } from '../../../server/storage/filter-grammar.ts'
import { HIT_CLASSES, HIT_OUTCOMES } from '../../../server/storage/hits/hit.ts'
import type {
  HitColumn,
  HitFilter,
  HitGrouping,
  HitQuery,
  HitSelection,
} from '../../../server/storage/hits/hit-engine.ts'
import type { ParamColumn } from '../../../server/storage/hits/kept-params.ts'
import { CLICK_COLUMNS, PEOPLE_COLUMNS, SLOT_MS } from '../../../server/storage/hits/rollups/rollup.ts'
import { ORIGIN_DIMENSIONS } from '../../../server/storage/sources/origin-sql.ts'
import { TRAFFIC_CHANNELS } from '../../../server/storage/sources/traffic-channel.ts'
import { type HitWorld, listWorldValues, pickInt, ROLLED_DIMENSIONS, WORLD_WORKSPACES } from './hit-world.ts'

const ZONES = Intl.supportedValuesOf('timeZone')
const COLUMNS: Exclude<HitColumn, ParamColumn>[] = [
  'linkId',
  'class',
  ...ROLLED_DIMENSIONS,
  ...ORIGIN_DIMENSIONS,
]
const LIMITS = [1, 1, 2, 3, 5, 8, 20, 62, 63, 1000]

export interface WorldQuestion {
  zone: string
  query: HitQuery
}

export function createQuestion(world: HitWorld, random: Random): WorldQuestion {
  const zone = pickZone(world, random)
  if (random() < 0.08) return { zone, query: createMonthsQuestion(world, zone, random) }
  const range = pickRange(world, zone, random)
  const groupBy = pickGrouping(range, zone, random)
  const selection: HitSelection = {
    workspaceId: pick([1, 1, 1, ...WORLD_WORKSPACES, 4], random),
    ...range,
    classes: ['human'],
    filters: pickFilters(groupBy, random),
  }
  changeSelection(selection, random)
  return { zone, query: { ...selection, groupBy } }
}

/** Months or weeks of a zone with one filter: a month's sums of UTC are exact for few of them. */
function createMonthsQuestion(world: HitWorld, zone: string, random: Random): HitQuery {
  const first = pickDay(world, random) * DAY_MS
  const range = {
    start: toMonthStart(first, zone, -1 + pickInt(2, random)),
    end: toMonthStart(first, zone, 2 + pickInt(2, random)),
  }
  const granularity = random() < 0.75 ? 'month' : 'week'
  const column = random() < 0.4 ? 'linkId' : pick([...CLICK_COLUMNS, ...PEOPLE_COLUMNS], random)
  return {
    workspaceId: 1,
    ...range,
    classes: ['human'],
    filters: [pickFilter(column, random)],
    groupBy: { by: 'time', starts: listBucketStarts(range, granularity, zone) },
  }
}

const pickZone = ({ zones }: HitWorld, random: Random) =>
  random() < 0.4 ? 'UTC' : random() < 0.5 ? pick(zones, random) : pick(ZONES, random)

const toMonthStart = (at: number, zone: string, months: number) =>
  toDate(at, zone).with({ day: 1 }).add({ months }).toZonedDateTime(zone).epochMilliseconds
const toDayStart = (at: number, zone: string) => toDate(at, zone).toZonedDateTime(zone).epochMilliseconds
const toDate = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate()

function pickRange(world: HitWorld, zone: string, random: Random): TimeRange {
  if (random() < 0.45) {
    // Whole months, and nearly whole ones.
    const first = pickDay(world, random) * DAY_MS
    const aligned = random() < 0.8 ? zone : 'UTC'
    const blur = () => (random() < 0.8 ? 0 : pick([-DAY_MS, DAY_MS, -1, 1, SLOT_MS, -SLOT_MS], random))
    const start = toMonthStart(first, aligned, 0) + blur()
    return { start, end: toMonthStart(first, aligned, 1 + pickInt(4, random)) + blur() }
  }
  const [a, b] = [pickMoment(world, zone, random), pickMoment(world, zone, random)]
  // The contract does not rule out an empty range.
  if (random() < 0.01) return { start: Math.max(a, b), end: Math.min(a, b) }
  return { start: Math.min(a, b), end: Math.max(a, b) + (a === b ? 1 : 0) }
}

const pickDay = ({ firstDay, days }: HitWorld, random: Random) => firstDay - 2 + pickInt(days + 4, random)

function pickMoment(world: HitWorld, zone: string, random: Random): number {
  const day = pickDay(world, random) * DAY_MS
  const kind = random()
  if (kind < 0.2) return day
  if (kind < 0.45) return toDayStart(day, zone)
  if (kind < 0.6) return toMonthStart(day, zone, pickInt(2, random))
  if (kind < 0.75) return day + pickInt(96, random) * SLOT_MS
  if (kind < 0.8) return day + pickInt(96, random) * SLOT_MS + pick([-1, 1], random)
  // At a hit, and close to it.
  if (kind < 0.88) return pick(world.hits, random).at + pick([0, 1, -1, SLOT_MS / 3, -SLOT_MS / 3], random)
  if (kind < 0.92) return day + pickInt(DAY_MS, random)
  if (kind < 0.96) return (world.firstDay - pickInt(400, random)) * DAY_MS
  return (world.firstDay + world.days + pickInt(400, random)) * DAY_MS
}

const pickBy = createWeightedPicker<HitGrouping['by'] | 'people' | 'click' | 'origin'>([
  [14, 'total'],
  [34, 'time'],
  [9, 'linkId'],
  [2, 'linkGroup'],
  [2, 'linkDay'],
  [1, 'class'],
  [18, 'people'],
  [16, 'click'],
  [6, 'origin'],
])
const pickGranularity = createWeightedPicker<Granularity>([
  [8, 'hour'],
  [36, 'day'],
  [20, 'week'],
  [36, 'month'],
])

function pickGrouping(range: TimeRange, zone: string, random: Random): HitGrouping {
  const by = pickBy(random)
  switch (by) {
    case 'total':
    case 'linkDay':
      return { by }
    case 'time':
      return { by, starts: pickStarts(range, zone, random) }
    case 'linkGroup': {
      const groups = Array.from({ length: pickInt(12, random) }, () => {
        return { linkId: 1 + pickInt(8, random), group: pick(['x', 'y', 'Z', 'é'], random) }
      })
      return { by, groups, limit: 1 + pickInt(5, random) }
    }
    default: {
      const kinds = { people: PEOPLE_COLUMNS, click: CLICK_COLUMNS, origin: ORIGIN_DIMENSIONS }
      const column =
        by in kinds ? pick<HitColumn>(kinds[by as keyof typeof kinds], random) : (by as HitColumn)
      // Another name than usual, and one that is a value too.
      const nullAs =
        random() < 0.93
          ? toNullLabel(column)
          : pick(['none', 'Unknown', '(direct)', 'DE', 'a.example'], random)
      return { by: column, limit: pick(LIMITS, random), nullAs }
    }
  }
}

function pickStarts({ start, end }: TimeRange, zone: string, random: Random): number[] {
  if (start >= end) return [start]
  const granularity = pickGranularity(random)
  // Hours of a year would be most of the work.
  const isLong = end - start > (granularity === 'hour' ? 20 : 800) * DAY_MS
  if (!isLong && random() < 0.9) return listBucketStarts({ start, end }, granularity, zone)
  // Starts that no calendar gives: two on a day, within quarter hours, and where no bucket is asked for.
  const starts = new Set([start - pick([0, 0, SLOT_MS, DAY_MS], random)])
  const days = Math.ceil((end - start) / DAY_MS)
  for (let n = pickInt(6, random); n > 0; n--) {
    const day = Math.floor(start / DAY_MS) * DAY_MS + pickInt(days + 1, random) * DAY_MS
    for (let cuts = 1 + pickInt(2, random); cuts > 0; cuts--)
      starts.add(
        day +
          pick(
            [0, SLOT_MS * pickInt(96, random), SLOT_MS * pickInt(96, random) + pick([1, -1], random)],
            random,
          ),
      )
  }
  const [first] = starts
  return [...starts]
    .filter((at) => at >= (first as number) && (at < end || random() < 0.1))
    .sort((a, b) => a - b)
}

function pickFilters(groupBy: HitGrouping, random: Random): HitFilter[] {
  const count = random()
  if (count < 0.42) return []
  const own = COLUMNS.filter((column) => column === groupBy.by)
  const first = pickFilter(own.length > 0 && random() < 0.6 ? pick(own, random) : pickColumn(random), random)
  if (count < 0.8) return [first]
  // Two columns of the visitor, one of the visitor and one of the click, any two, or twice the same one.
  const others = [
    pick(PEOPLE_COLUMNS, random),
    pick(PEOPLE_COLUMNS, random),
    pick(COLUMNS, random),
    first.column as Exclude<HitColumn, ParamColumn>,
  ]
  const second = pickFilter(pick(others, random), random)
  if (count < 0.97) return [random() < 0.5 ? pickFilter(pick(PEOPLE_COLUMNS, random), random) : first, second]
  return [first, second, pickFilter(pick(PEOPLE_COLUMNS, random), random)]
}

const pickColumn = (random: Random) =>
  random() < 0.2 ? 'linkId' : random() < 0.45 ? pick(PEOPLE_COLUMNS, random) : pick(COLUMNS, random)

function pickFilter(column: Exclude<HitColumn, ParamColumn>, random: Random): HitFilter {
  const list = listValues(column)
  const length = random() < 0.55 ? 1 : random() < 0.15 ? 0 : 2 + pickInt(3, random)
  let values = Array.from({ length }, () => pick(list, random))
  const name = toNullLabel(column)
  // As the API asks: a filter for the name includes hits without a value.
  if (values.some((value) => value === null || value === name) && random() < 0.6)
    values = [...values, null, name]
  if (column === 'linkId') values = values.filter((value) => value !== name)
  return {
    column,
    values: random() < 0.9 ? [...new Set(values)] : values,
    negate: random() < 0.25,
  } as HitFilter
}

function listValues(column: Exclude<HitColumn, ParamColumn>): readonly (string | number | null)[] {
  switch (column) {
    case 'linkId':
      return [1, 1, 2, 3, 4, 7, 40, 99, 1, 2, null]
    case 'class':
      return HIT_CLASSES
    case 'source':
      return ['Facebook', 'Google', 'a.example', '', '(direct)', null, 'facebook.com']
    case 'channel':
      return [...TRAFFIC_CHANNELS, 'Unknown', null]
    default: {
      const values = listWorldValues(column)
      const otherCase = values.map((value) => value?.toUpperCase() ?? null)
      return [...values, ...values, null, toNullLabel(column), 'unknown', 'nowhere', ...otherCase]
    }
  }
}

/** Some questions are about landings, about imports, or about anything. */
function changeSelection(selection: HitSelection, random: Random) {
  const kind = random()
  if (kind < 0.7) return
  if (kind < 0.78) selection.outcomes = ['landing']
  if (kind < 0.88 && (kind >= 0.78 || random() < 0.15)) selection.imported = random() < 0.5
  if (kind < 0.88) {
    if (random() < 0.7) selection.filters = []
    return
  }
  selection.classes = pick(
    [['human'], ['bot'], ['human', 'bot'], [...HIT_CLASSES], [], ['head', 'human']],
    random,
  )
  selection.outcomes = pick(
    [undefined, ['redirect'], ['landing'], ['redirect', 'landing'], [], ['view'], [...HIT_OUTCOMES]],
    random,
  )
  selection.imported = pick([undefined, undefined, true, false], random)
}
