// Finds the keys that can be in a top list of a column with very many values, without reading the sums of all of them.
// `roll_heads` has the values with the most clicks of each month. No other value of the month has more clicks than the
// month's bound.

import { createBinder, type Statement } from '../../filter-sql.ts'
import type { HitJoinDialect } from '../hit-dialect.ts'
import type { HitQuery } from '../hit-engine.ts'
import type { RollUpPlan } from './plan-days.ts'
import {
  toDayPieces,
  toMonthPieces,
  toNameCondition,
  toRawPieces,
  toWorkspaceCondition,
} from './rolled-sql.ts'
import { CLICK_COLUMNS, type RollUpState } from './rollup.ts'

/** With more keys, reading only them is not faster. */
const KEYS_MAX = 2000

/**
 * A value has at least its known clicks (`low`), and at most these plus the bounds of the months that do not name it. Take the
 * values with the highest `low`, as many as the list has places: the lowest of them is a lower limit for the list. A value that
 * cannot reach it is not in the list.
 * @returns undefined if no month of the plan has a long tail. The statement's answer is the keys that can be in the list;
 *   undefined if every value can
 */
export function toHeadSql(
  query: HitQuery,
  plan: RollUpPlan,
  state: RollUpState,
  dialect: HitJoinDialect,
): Statement<string[] | undefined> | undefined {
  const { groupBy, filters } = query
  if (!CLICK_COLUMNS.some((each) => each === plan.set) || filters.length > 0) return undefined
  if (!('limit' in groupBy) || groupBy.limit > KEYS_MAX) return undefined
  const isIn = (month: number) => plan.months.some(({ start, end }) => month >= start && month < end)
  const tails = [...state.tails].filter(([month]) => isIn(month))
  if (tails.length === 0) return undefined
  const { params, bind } = createBinder(dialect)
  const months = tails.map(([month]) => month)
  const others = plan.months.flatMap(({ start, end }) => splitAround(start, end, months))
  const builder = { query, plan: { ...plan, months: others }, state, dialect, bind }
  const days = `day IN (${months.map((month) => bind(month)).join(', ')})`
  const ofSet = `${toWorkspaceCondition(query, bind)} AND ${toNameCondition(plan.set, bind)}`
  const heads = `SELECT value AS key, clicks AS c, bound AS b FROM roll_heads WHERE ${ofSet} AND ${days}`
  const whole = [...toMonthPieces(builder), ...toDayPieces(builder), ...toRawPieces(builder)]
  const pieces = [heads, ...whole.map((piece) => `SELECT key, c, 0 AS b FROM (${piece}) AS piece`)]
  const bound = tails.reduce((sum, [, each]) => sum + each, 0)
  const known = `known AS (SELECT key, sum(c) AS low, sum(b) AS known_bound FROM (${pieces.join(' UNION ALL ')}) AS pieces GROUP BY key)`
  const last = `SELECT min(low) AS last_low, count(*) AS places FROM (SELECT low FROM known ORDER BY low DESC LIMIT ${bind(groupBy.limit)}) AS best`
  return {
    text: `WITH ${known}, places AS (${last}) SELECT key, last_low, places FROM known CROSS JOIN places
      WHERE low + ${bind(bound)} - known_bound >= last_low LIMIT ${KEYS_MAX + 1}`,
    params,
    read(rows) {
      const [, lastLow, places] = rows[0] ?? []
      // Then a value outside all heads could be in the list, too.
      const isOpen = Number(places ?? 0) < groupBy.limit || bound >= Number(lastLow)
      return isOpen || rows.length > KEYS_MAX ? undefined : rows.map(([key]) => String(key))
    },
  }
}

/** Splits a span of whole months around the months that are left out. */
function splitAround(start: number, end: number, without: readonly number[]) {
  const spans: { start: number; end: number }[] = []
  // A month's sums have the number of its first day, so a span without that day has none of the month.
  let from = start
  for (const month of without.filter((each) => each >= start && each < end).sort((a, b) => a - b)) {
    if (month > from) spans.push({ start: from, end: month })
    from = month + 1
  }
  if (end > from) spans.push({ start: from, end })
  return spans
}
