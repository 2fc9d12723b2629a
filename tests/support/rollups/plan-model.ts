// Answers questions by a plan in memory: the sums of days and months are counted from a list of hits in the simplest way.
// So a wrong plan shows as a wrong answer, tens of thousands of times in seconds.

import { createRandom, type Random } from '../../../server/lib/seeded-random.ts'
import { DAY_MS } from '../../../server/lib/utc-day.ts'
import { toNullLabel } from '../../../server/storage/filter-grammar.ts'
import { type Hit, NO_VISITOR } from '../../../server/storage/hits/hit.ts'
import {
  type HitAnswer,
  type HitColumn,
  type HitQuery,
  LINK_DAYS,
} from '../../../server/storage/hits/hit-engine.ts'
import type { OriginKind, OriginPart } from '../../../server/storage/hits/rollups/answer-origin.ts'
import type { chooseRollUps } from '../../../server/storage/hits/rollups/choose-roll-ups.ts'
import type { DayCut, DaySpan, planDays, RollUpPlan } from '../../../server/storage/hits/rollups/plan-days.ts'
import {
  PEOPLE_COLUMNS,
  type RollUpSet,
  type RollUpState,
  SLOT_MS,
  toDay,
  toMonth,
  toNextMonth,
} from '../../../server/storage/hits/rollups/rollup.ts'
import { type HitWorld, pickInt } from './hit-world.ts'
import { findBucket, getValue, isMatch, recountHits, sortAnswers, toPerson } from './recount-hits.ts'

/** The functions that make a plan: those of the product, or changed ones. */
export interface Planner {
  chooseRollUps: typeof chooseRollUps
  planDays: typeof planDays
}

export interface PlannedAnswer {
  answers: HitAnswer[]
  origin: OriginPart[]
}

export interface PlanModel {
  /** @returns undefined when the planner leaves all of the question to the hits */
  answer(query: HitQuery, planner: Planner): PlannedAnswer | undefined
}

type Values = Partial<Record<HitColumn, string | number>>
/** One row of a roll-up. */
interface SumRow {
  values: Values
  clicks: number
  visitors: number
}

/** Rolls up some days of the world, and leaves holes. What is not rolled up has wrong sums: no plan may read them. */
export function createPlanModel(world: HitWorld): PlanModel {
  const { days, months } = pickRolledDays(world, createRandom(world.seed + 500))
  const read = createRowReader(world.hits)
  const hitDays = pickHitDays(world, createRandom(world.seed + 900))
  return {
    answer(query, { chooseRollUps, planDays }) {
      const choice = chooseRollUps(query)
      if (!choice) return undefined
      const { set } = choice
      const readDay = (day: number) => read(query.workspaceId, set, day)
      const sums: Sums = {
        ofDay: (day) => (days.has(day) ? readDay(day) : readDay(day).map(toWrong)),
        ofMonth(month) {
          if (set === 'times' || set === 'landings' || set === 'imports') return []
          const its = Array.from({ length: toNextMonth(month) - month }, (_, n) => month + n)
          const isRolled = months.has(month) && its.every((day) => days.has(day))
          return isRolled ? its.flatMap(readDay) : its.flatMap(readDay).map(toWrong)
        },
      }
      const isMixed = (day: number) => sum(readDay(day)) !== sum(read(query.workspaceId, 'times', day))
      const mixed = new Set(listRowColumns(set).length > 0 ? [...days].filter(isMixed) : [])
      const plan = planDays(query, choice, { days, months, mixed, hitDays, tails: new Map() })
      if (Array.isArray(plan)) return undefined
      return { answers: evaluate(plan, query, world.hits, sums), origin: plan.origin }
    },
  }
}

interface Sums {
  ofDay(day: number): SumRow[]
  ofMonth(month: number): SumRow[]
}

const sum = (rows: readonly SumRow[]) => rows.reduce((total, { visitors }) => total + visitors, 0)
const toWrong = (row: SumRow): SumRow => ({ ...row, clicks: row.clicks + 1 })

function pickRolledDays({ firstDay, days }: HitWorld, random: Random): Pick<RollUpState, 'days' | 'months'> {
  const open = pickInt(5, random)
  const skipped = random() < 0.3 ? pickInt(40, random) : -31
  const all = Array.from({ length: days - skipped - open }, (_, n) => firstDay + skipped + n)
  const rolled = new Set(all)
  const months = new Set(all.map(toMonth))
  for (const month of months) {
    for (let day = month; day < toNextMonth(month); day++) if (!rolled.has(day)) months.delete(month)
    // Its days are rolled up, and the month is next.
    if (random() < 0.15) months.delete(month)
  }
  // Late hits came to some days after their month was rolled up.
  for (let holes = random() < 0.5 ? 0 : pickInt(5, random); holes > 0; holes--)
    rolled.delete(firstDay + pickInt(days, random))
  return { days: rolled, months }
}

/** In a third of the worlds what is known of the days is old: since then hits came before and after them, or the first ones. */
function pickHitDays({ hits }: HitWorld, random: Random): DaySpan {
  const days = hits.map(({ at }) => toDay(at))
  const exact = { start: Math.min(...days), end: Math.max(...days) + 1 }
  if (random() > 1 / 3) return exact
  if (random() < 0.4) return { start: 0, end: 0 }
  return { start: exact.start + pickInt(20, random), end: exact.end - pickInt(20, random) }
}

/** Reads the rows of a day, and counts them when they are read for the first time. */
function createRowReader(hits: readonly Hit[]) {
  const byDay = Map.groupBy(hits, (hit) => `${hit.workspaceId}/${toDay(hit.at)}`)
  const known = new Map<string, SumRow[]>()
  return (workspaceId: number, set: RollUpSet, day: number): SumRow[] => {
    const name = `${workspaceId}/${day}`
    const key = `${name}/${set}`
    const rows = known.get(key) ?? countRows(byDay.get(name) ?? [], set)
    known.set(key, rows)
    return rows
  }
}

function countRows(hits: readonly Hit[], set: RollUpSet): SumRow[] {
  const counted = hits.filter(
    (hit) =>
      hit.class === 'human' &&
      hit.outcome === (set === 'landings' ? 'landing' : 'redirect') &&
      (set !== 'imports' || hit.importId !== null),
  )
  const columns = listRowColumns(set)
  const toValues = (hit: Hit) => {
    const values: Values = {}
    for (const column of columns) values[column] = getValue(hit, column) ?? toNullLabel(column)
    return values
  }
  const groups = Map.groupBy(counted, (hit) => JSON.stringify(toValues(hit)))
  return [...groups.values()].map((group) => {
    return { values: toValues(group[0] as Hit), clicks: group.length, visitors: countPeople(group) }
  })
}

const countPeople = (hits: readonly Hit[]) =>
  new Set(hits.filter(({ visitor }) => visitor !== NO_VISITOR).map(toPerson)).size

function listRowColumns(set: RollUpSet): readonly HitColumn[] {
  if (set === 'times' || set === 'landings' || set === 'imports') return []
  if (set === 'links') return ['linkId']
  return set === 'people' ? PEOPLE_COLUMNS : [set]
}

/** Adds up what the plan names: months and days from their rows, cut days from quarter hours, and the rest from hits. */
function evaluate(plan: RollUpPlan, query: HitQuery, hits: readonly Hit[], sums: Sums): HitAnswer[] {
  const { groupBy } = query
  const totals = new Map<HitAnswer['key'], HitAnswer>()
  const add = ({ key, clicks, visitors }: HitAnswer) => {
    const known = totals.get(key) ?? { key, clicks: 0, visitors: 0 }
    totals.set(key, { key, clicks: known.clicks + clicks, visitors: known.visitors + visitors })
  }
  const addRow = ({ values, clicks, visitors }: SumRow, at: number) => {
    const isIn = query.filters.every((filter) => isMatch(nameNull(filter), values[filter.column] ?? null))
    if (isIn) add({ key: toKey(groupBy, values, at), clicks, visitors })
  }
  if (groupBy.by === 'total') add({ key: null, clicks: 0, visitors: 0 })
  // All rows of a month have the number of its first day.
  for (const month of listDays(plan.months).filter((day) => toMonth(day) === day))
    for (const row of sums.ofMonth(month)) addRow(row, month * DAY_MS)
  for (const day of listDays(plan.days)) for (const row of sums.ofDay(day)) addRow(row, day * DAY_MS)
  for (const cut of plan.cuts) for (const row of countCut(cut, query, hits)) addRow(row.row, row.at)
  for (const { start, end } of plan.raw) {
    const unlimited = 'limit' in groupBy ? { ...groupBy, limit: Number.POSITIVE_INFINITY } : groupBy
    for (const answer of recountHits(hits, { ...query, start, end, groupBy: unlimited })) add(answer)
  }
  const rows = [...totals.values()].filter(({ clicks }) => clicks > 0 || groupBy.by === 'total')
  return sortAnswers(rows, query)
}

const nameNull = (filter: HitQuery['filters'][number]): HitQuery['filters'][number] => {
  // A text among the ids of links would be an error of the engine.
  if (filter.column === 'linkId' && filter.values.includes(null))
    throw new Error('A link has no name for null')
  return { ...filter, values: filter.values.map((value) => value ?? toNullLabel(filter.column)) }
}

function toKey(groupBy: HitQuery['groupBy'], values: Values, at: number): HitAnswer['key'] {
  if (groupBy.by === 'total') return null
  if (groupBy.by === 'time') return findBucket(groupBy.starts, at)
  if (groupBy.by === 'linkDay') return Number(values.linkId) * LINK_DAYS + toDay(at)
  return values[groupBy.by as HitColumn] ?? 'a column that the rows lack'
}

const listDays = (spans: readonly DaySpan[]): number[] =>
  spans.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, n) => start + n))

/** The two pieces of a cut day, from the first and the last clicks of its visitors: those of them that are asked for. */
function countCut(
  { day, slot }: DayCut,
  query: HitQuery,
  hits: readonly Hit[],
): { row: SumRow; at: number }[] {
  const clicks = hits.filter(
    (hit) =>
      hit.workspaceId === query.workspaceId &&
      toDay(hit.at) === day &&
      hit.class === 'human' &&
      hit.outcome === 'redirect',
  )
  const toSlot = (hit: Hit) => Math.floor((hit.at - day * DAY_MS) / SLOT_MS)
  const visits = Map.groupBy(
    clicks.filter(({ visitor }) => visitor !== NO_VISITOR),
    toPerson,
  )
  const slots = [...visits.values()].map((visit) => visit.map(toSlot))
  const early = {
    at: day * DAY_MS,
    row: {
      values: {},
      clicks: clicks.filter((hit) => toSlot(hit) < slot).length,
      visitors: slots.filter((each) => Math.min(...each) < slot).length,
    },
  }
  const late = {
    at: day * DAY_MS + slot * SLOT_MS,
    row: {
      values: {},
      clicks: clicks.filter((hit) => toSlot(hit) >= slot).length,
      visitors: slots.filter((each) => Math.max(...each) >= slot).length,
    },
  }
  return [early, late].filter(({ at }) => at >= query.start && at < query.end)
}

/** @returns what is wrong with the parts of an answer's origin: they follow one another, and together are the range */
export function findOriginProblem(
  origin: readonly OriginPart[],
  { start, end }: HitQuery,
): string | undefined {
  let at = start
  for (const part of origin) {
    if (part.start !== at || part.end <= at) return `the part that starts at ${part.start}`
    if ((part.why !== undefined) !== (part.from === 'hits')) return `the reason of the part at ${part.start}`
    at = part.end
  }
  return at === Math.max(start, end) ? undefined : 'the end'
}

export const countOrigins = (counts: Record<OriginKind, number>, origin: readonly OriginPart[]) => {
  for (const kind of new Set(origin.map(({ from }) => from))) counts[kind]++
}
