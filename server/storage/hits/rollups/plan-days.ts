// Decides for each day the source of an answer: month sums, day sums, quarter hours, or hits. Pure, and the same for every
// engine. docs/adr/0059-roll-ups.md has the rules.

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { HitQuery } from '../hit-engine.ts'
import { joinParts, type OriginKind, type OriginPart, type RawReason } from './answer-origin.ts'
import type { RollUpChoice } from './choose-roll-ups.ts'
import { type RollUpSet, type RollUpState, SLOT_MS, toDay, toMonth, toNextMonth } from './rollup.ts'

/** `end` is exclusive. Days are whole UTC days since 1970. */
export interface DaySpan {
  start: number
  end: number
}

/** A day that a bucket or the range cuts at one quarter hour. */
export interface DayCut {
  day: number
  /** The number of the first quarter hour after the cut. */
  slot: number
}

export interface RollUpPlan {
  set: RollUpSet
  months: DaySpan[]
  days: DaySpan[]
  cuts: DayCut[]
  /** Milliseconds since the epoch. No day is in two spans, so their visitors add up. */
  raw: DaySpan[]
  origin: OriginPart[]
}

/** Facts about one day, or about the part of it in the range. */
type DayFate = { from: 'days' } | { from: 'quarter_hours'; slot: number } | { from: 'hits'; why: RawReason }

/** Sets without month sums, because they have few rows a day. */
export const SETS_WITHOUT_MONTHS: ReadonlySet<RollUpSet> = new Set<RollUpSet>([
  'times',
  'landings',
  'imports',
])

/** @returns the plan, or only the origin of the answer if all days are counted from hits */
export function planDays(
  query: HitQuery,
  choice: RollUpChoice,
  state: RollUpState,
): RollUpPlan | OriginPart[] {
  const { start, end } = query
  const { set } = choice
  const rolled = [...state.days].filter((day) => (day + 1) * DAY_MS > start && day * DAY_MS < end)
  if (rolled.length === 0) return toHitsOrigin(query, 'not_rolled_up', state.hitDays)
  const first = Math.min(...rolled)
  const after = Math.max(...rolled) + 1
  const cutsByDay = listCuts(query)
  const plan: RollUpPlan = { set, months: [], days: [], cuts: [], raw: [], origin: [] }
  let [usable, unusable] = [0, 0]
  const addOpen = (from: number, to: number) => {
    for (const part of listOpenParts(from, to, state.hitDays)) {
      addRaw(plan, part)
      if (part.why !== 'no_hits') unusable += toDay(part.end - 1) + 1 - toDay(part.start)
    }
  }
  addOpen(start, first * DAY_MS)
  for (let day = first; day < after; ) {
    if (isWholeMonth(day, query, choice, state)) {
      const next = toNextMonth(day)
      addSpan(plan.months, day, next)
      plan.origin.push(toPart('months', day * DAY_MS, next * DAY_MS))
      usable += next - day
      day = next
      continue
    }
    const from = Math.max(start, day * DAY_MS)
    const to = Math.min(end, (day + 1) * DAY_MS)
    const fate = decideDay(day, { from, to }, cutsByDay.get(day) ?? [], choice, state)
    if (fate.from === 'hits') {
      addRaw(plan, toPart('hits', from, to, fate.why))
      unusable++
    } else {
      if (fate.from === 'quarter_hours') plan.cuts.push({ day, slot: fate.slot })
      else addSpan(plan.days, day, day + 1)
      plan.origin.push(toPart(fate.from, from, to))
      usable++
    }
    day++
  }
  addOpen(after * DAY_MS, end)
  if (usable === 0) return joinParts(plan.origin)
  const isList = query.groupBy.by !== 'total' && query.groupBy.by !== 'time'
  if (isList && unusable > usable) return toHitsOrigin(query, 'mostly_hits', state.hitDays)
  if (plan.raw.length > RAW_SPANS_MAX) return toHitsOrigin(query, toScatterReason(plan.origin), state.hitDays)
  return { ...plan, origin: joinParts(plan.origin) }
}

/** Limit of spans: each makes the statement longer, and the engine checks every block for each. */
const RAW_SPANS_MAX = 20

/**
 * The origin of an answer from hits only. Days without hits cost nothing, whatever the reason.
 * @param hitDays see `RollUpState`; undefined if it is unknown
 */
export const toHitsOrigin = (
  { start, end }: Pick<HitQuery, 'start' | 'end'>,
  why: RawReason,
  hitDays: DaySpan = { start: -Infinity, end: Infinity },
): OriginPart[] =>
  listOpenParts(start, end, hitDays).map((part) => (part.why === 'no_hits' ? part : { ...part, why }))

/** Days that are not rolled up. Those without hits cost nothing, and do not count as days to read. */
function listOpenParts(start: number, end: number, hitDays: DaySpan): OriginPart[] {
  const from = Math.max(start, Math.min(end, hitDays.start * DAY_MS))
  const to = Math.max(from, Math.min(end, hitDays.end * DAY_MS))
  return [
    toPart('hits', start, from, 'no_hits'),
    toPart('hits', from, to, 'not_rolled_up'),
    toPart('hits', to, end, 'no_hits'),
  ].filter((part) => part.start < part.end)
}

/** Names buckets of another time zone as the reason, if they cut days all over the range: people can choose another zone. */
function toScatterReason(parts: readonly OriginPart[]): RawReason {
  const places = parts.filter(({ from, why }) => from === 'hits' && why !== 'no_hits')
  return places.filter(({ why }) => why === 'bucket').length * 2 > places.length ? 'bucket' : 'scattered'
}

function decideDay(
  day: number,
  { from, to }: { from: number; to: number },
  inside: readonly number[],
  { set, needsUnmixed }: RollUpChoice,
  { days, mixed }: RollUpState,
): DayFate {
  if (!days.has(day)) return { from: 'hits', why: 'not_rolled_up' }
  if (needsUnmixed && mixed.has(day)) return { from: 'hits', why: 'mixed' }
  const midnight = day * DAY_MS
  const isWhole = from === midnight && to === midnight + DAY_MS
  if (isWhole && inside.length === 0) return { from: 'days' }
  const why = isWhole ? 'bucket' : 'edge'
  if (set !== 'times') return { from: 'hits', why }
  // One end of each piece must be a midnight: then first or last clicks are enough to count its visitors.
  const cuts = [from, ...inside, to].filter((at) => at !== midnight && at !== midnight + DAY_MS)
  const [cut] = cuts
  if (cuts.length !== 1 || cut === undefined || cut % SLOT_MS !== 0) return { from: 'hits', why }
  return { from: 'quarter_hours', slot: (cut - midnight) / SLOT_MS }
}

/** The starts of buckets that lie within a day, by day. */
function listCuts({ start, end, groupBy }: HitQuery): Map<number, number[]> {
  const cuts = new Map<number, number[]>()
  if (groupBy.by !== 'time') return cuts
  for (const at of groupBy.starts) {
    if (at <= start || at >= end || at % DAY_MS === 0) continue
    const day = toDay(at)
    cuts.set(day, [...(cuts.get(day) ?? []), at])
  }
  return cuts
}

/** True if the sums of the whole month that begins on this day can be used. */
function isWholeMonth(
  day: number,
  { start, end, groupBy }: HitQuery,
  { set, needsUnmixed }: RollUpChoice,
  { days, months, mixed }: RollUpState,
): boolean {
  if (groupBy.by === 'linkDay') return false
  if (SETS_WITHOUT_MONTHS.has(set) || toMonth(day) !== day || !months.has(day)) return false
  const next = toNextMonth(day)
  if (day * DAY_MS < start || next * DAY_MS > end) return false
  if (groupBy.by === 'time' && groupBy.starts.some((at) => at > day * DAY_MS && at < next * DAY_MS))
    return false
  for (let each = day; each < next; each++)
    if (!days.has(each) || (needsUnmixed && mixed.has(each))) return false
  return true
}

const toPart = (from: OriginKind, start: number, end: number, why?: RawReason): OriginPart =>
  why ? { start, end, from, why } : { start, end, from }

function addRaw(plan: RollUpPlan, part: OriginPart) {
  addSpan(plan.raw, part.start, part.end)
  plan.origin.push(part)
}

function addSpan(spans: DaySpan[], start: number, end: number) {
  const last = spans.at(-1)
  if (last?.end === start) last.end = end
  else spans.push({ start, end })
}
