// Reads which roll-ups count: for a question, and for the roller.

import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { SqlValue } from '../../../filter-sql.ts'
import type { HitQuery } from '../../hit-engine.ts'
import type { RollUpChoice } from '../../rollups/choose-roll-ups.ts'
import { toSetNumber } from '../../rollups/rolled-sql.ts'
import { type RollUpState, toDay, toNextMonth } from '../../rollups/rollup.ts'
import type { ClickHouseCall, ClickHouseClient } from '../client.ts'
import { toPlaceholder } from '../parameters.ts'
import { DAY_CHANGES } from './day-changes.ts'
import { NO_DAY } from './roll-tables.ts'
import { SILENT_BATCHES } from './silent-nodes.ts'

type Select = ClickHouseClient['select']

/** The roll-up of each day and each month that counts, by the number of the (first) day. */
export interface ValidRolls {
  days: Map<number, number>
  months: Map<number, number>
  /** See `RollUpState`. ClickHouse knows it without reading hits. */
  hitDays: { start: number; end: number }
}

/** Bounds beyond every real day, for a range without ends. */
const FIRST_DAY = NO_DAY
const LAST_DAY = 2 ** 31 - 1

/**
 * The roll-ups that nobody has dropped. Each records its beginning before its sums. So none counts after the table of
 * steps was lost, which also said which ones were dropped.
 */
const STANDING = `(SELECT roll FROM roll_steps GROUP BY roll HAVING countIf(step = 'begun') > 0 AND countIf(step = 'dropped') = 0)`

/**
 * A mark counts while its day has exactly its changes, and at least one. A change that comes while this statement runs
 * may be seen or not: the change of hits that it announces has not been confirmed to anybody.
 */
const VALID_ROLLS = `
  SELECT 0 AS kind, day, argMax(roll, (made_at, roll)) AS valid_roll, CAST([], 'Array(Int64)') AS day_rolls FROM roll_marks
  LEFT JOIN (SELECT day, toInt64(${DAY_CHANGES}) AS touched FROM roll_touches
    WHERE day >= {p1:Int64} AND day < {p2:Int64} GROUP BY day) AS touches USING (day)
  WHERE day >= {p1:Int64} AND day < {p2:Int64} AND rules = {p3:String} AND touches != 0 AND touches = ifNull(touched, 0) AND silent = ${SILENT_BATCHES}
    AND day <= (SELECT if(count() = 0, ${FIRST_DAY}, max(day)) FROM roll_intents) AND roll IN ${STANDING}
  GROUP BY day
  UNION ALL
  SELECT 1, day, roll, day_rolls FROM roll_month_marks
  WHERE day >= {p1:Int64} AND day < {p2:Int64} AND rules = {p3:String}
    AND roll IN ${STANDING}
  UNION ALL
  SELECT 2, toInt32(intDiv(min(recorded_at), ${DAY_MS})), intDiv(max(recorded_at), ${DAY_MS}), CAST([], 'Array(Int64)')
  FROM hits HAVING count() > 0`

/** @param rules the name of the rules of this release @param days the days from `start` up to `end`, or all days */
export async function readValidRolls(
  select: Select,
  rules: string,
  { start, end } = { start: FIRST_DAY, end: LAST_DAY },
  call: Omit<ClickHouseCall, 'params'> = {},
): Promise<ValidRolls> {
  const rows = await select(VALID_ROLLS, { ...call, params: [start, end, rules] })
  const valid: ValidRolls = { days: new Map(), months: new Map(), hitDays: { start: 0, end: 0 } }
  for (const [kind, day, roll] of rows)
    if (Number(kind) === 0) valid.days.set(Number(day), Number(roll))
    else if (Number(kind) === 2) valid.hitDays = { start: Number(day), end: Number(roll) + 1 }
  for (const [kind, day, roll, dayRolls] of rows)
    if (Number(kind) === 1 && isSame(listDayRolls(valid.days, Number(day)), dayRolls as unknown[]))
      valid.months.set(Number(day), Number(roll))
  return valid
}

/** @returns the roll-ups of the month's days, in their order; undefined while one has none */
export function listDayRolls(days: ReadonlyMap<number, number>, month: number): number[] | undefined {
  const rolls: number[] = []
  for (let day = month; day < toNextMonth(month); day++) {
    const roll = days.get(day)
    if (roll === undefined) return undefined
    rolls.push(roll)
  }
  return rolls
}

const isSame = (rolls: readonly number[] | undefined, cells: readonly unknown[]) =>
  rolls?.length === cells.length && rolls.every((roll, index) => roll === Number(cells[index]))

/** The days that a question is about. The sums of a month count only with all its days, so these are enough. */
export const toDaySpan = ({ start, end }: Pick<HitQuery, 'start' | 'end'>) => ({
  start: Math.max(toDay(start), FIRST_DAY),
  end: Math.min(toDay(end - 1) + 1, LAST_DAY),
})

/** The roll-ups for a question, with the days on which they cannot answer it. */
export async function readRollState(
  select: Select,
  query: HitQuery,
  { set, needsUnmixed }: RollUpChoice,
  valid: ValidRolls,
  call: Omit<ClickHouseCall, 'params'>,
): Promise<RollUpState> {
  const rolls = [...new Set(valid.days.values())]
  const state: RollUpState = {
    days: new Set(valid.days.keys()),
    months: new Set(valid.months.keys()),
    mixed: new Set(),
    hitDays: valid.hitDays,
    // Month sums are read as a whole: ClickHouse groups a million values in a few milliseconds.
    tails: new Map(),
    rolls: [...rolls, ...valid.months.values()],
  }
  if (!needsUnmixed || rolls.length === 0) return state
  const { start, end } = toDaySpan(query)
  const params: SqlValue[] = [query.workspaceId, toSetNumber(set), start, end, rolls]
  const [workspace, name, first, after, list] = params.map((value, index) => toPlaceholder(index + 1, value))
  const mixed = await select(
    `SELECT DISTINCT day FROM roll_mixed
     WHERE workspace_id = ${workspace} AND name = ${name} AND day >= ${first} AND day < ${after} AND roll IN ${list}`,
    { ...call, params },
  )
  return { ...state, mixed: new Set(mixed.map(([day]) => Number(day))) }
}
