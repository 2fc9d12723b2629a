// Builds the SQL statement of a plan: sums of roll-ups, and counts of hits for the other days. The parts have no day in common,
// so their visitors add up.

import { DAY_MS } from '../../../lib/utc-day.ts'
import { toNullLabel } from '../../filter-grammar.ts'
import {
  createBinder,
  type Statement,
  toAnyOfSql,
  toBucketSql,
  toFilterSql,
  type ValueBinder,
} from '../../filter-sql.ts'
import type { HitJoinDialect } from '../hit-dialect.ts'
import { type HitAnswer, type HitColumn, type HitFilter, type HitQuery, LINK_DAYS } from '../hit-engine.ts'
import { toTopOriginsSql } from '../hit-origin-sql.ts'
import { isOriginGrouping, toGroupingSql, toSelectionSql } from '../hit-sql.ts'
import type { DaySpan, RollUpPlan } from './plan-days.ts'
import { CLICK_COLUMNS, type ClickColumn, type RollUpSet, type RollUpState, SLOT_MS } from './rollup.ts'

/** Inputs shared by the parts of a statement. */
interface Builder {
  query: HitQuery
  plan: RollUpPlan
  state: RollUpState
  dialect: HitJoinDialect
  bind: ValueBinder
}

/** The number of a set in the column `name` of the roll-ups. */
export const toSetNumber = (set: RollUpSet): number =>
  set === 'links' ? 100 : set === 'people' ? 101 : CLICK_COLUMNS.indexOf(set as ClickColumn)

/** @param keys the keys that can be in the answer of a top list, if they are known (head-sql.ts) */
export function toRolledSql(
  query: HitQuery,
  plan: RollUpPlan,
  state: RollUpState,
  dialect: HitJoinDialect,
  keys?: string[],
): Statement<HitAnswer[]> {
  const { params, bind } = createBinder(dialect)
  const builder = { query, plan, state, dialect, bind }
  const pieces = [...toMonthPieces(builder), ...toDayPieces(builder), ...toRawPieces(builder)]
  const { groupBy } = query
  const all = `(${pieces.join(' UNION ALL ')}) AS pieces`
  const among = keys === undefined ? '' : ` WHERE ${toAnyOfSql('key', keys, dialect, bind)}`
  const sums = 'sum(c) AS clicks, sum(v) AS visitors'
  const readKey =
    groupBy.by === 'total' ? () => null : ['time', 'linkId', 'linkDay'].includes(groupBy.by) ? Number : String
  const read: Statement<HitAnswer[]>['read'] = (rows) =>
    rows.map(([key, clicks, visitors]) => ({
      key: readKey(key),
      clicks: Number(clicks ?? 0),
      visitors: Number(visitors ?? 0),
    }))
  if (groupBy.by === 'total') return { text: `SELECT NULL AS key, ${sums} FROM ${all}`, params, read }
  const order =
    groupBy.by === 'time'
      ? 'key'
      : `clicks DESC, key LIMIT ${bind('limit' in groupBy ? groupBy.limit : Number.MAX_SAFE_INTEGER)}`
  const text = `SELECT key, ${sums} FROM ${all}${among} GROUP BY key HAVING sum(c) > 0 ORDER BY ${order}`
  return { text, params, read }
}

/** The sums of whole months. */
export function toMonthPieces({ plan, ...builder }: Builder): string[] {
  const { set, months } = plan
  if (months.length === 0) return []
  return [toSumPiece({ plan, ...builder }, `roll_month_${toTableName(set)}`, toSpanSql(months, builder.bind))]
}

/** The sums of days, and of the parts of cut days. */
export function toDayPieces(builder: Builder): string[] {
  const { plan, bind } = builder
  const { set, days } = plan
  const isByDay = set === 'times' || set === 'landings' || set === 'imports'
  const table = isByDay ? 'roll_days' : `roll_${toTableName(set)}`
  return [
    ...(days.length > 0 ? [toSumPiece(builder, table, toSpanSql(days, bind))] : []),
    ...(plan.cuts.length > 0 ? [toCutPiece(builder)] : []),
  ]
}

const toTableName = (set: RollUpSet) =>
  set === 'links' || set === 'people' ? set : toValueTable(set as ClickColumn)

/** URLs have their own table, because they are many. The values of the other columns fit into small dictionaries. */
export const toValueTable = (column: ClickColumn) => (column === 'referrerUrl' ? 'urls' : 'values')

/** The columns of clicks and visitors in the tables of a set. */
const toSumColumns = (set: RollUpSet): [clicks: string, visitors: string] =>
  set === 'landings'
    ? ['landings', 'landing_visitors']
    : set === 'imports'
      ? ['imports', 'import_visitors']
      : ['clicks', 'visitors']

function toSumPiece(builder: Builder, table: string, days: string): string {
  const { query, plan, bind } = builder
  const [clicks, visitors] = toSumColumns(plan.set)
  const { groupBy } = query
  const key =
    groupBy.by === 'total'
      ? 'NULL'
      : groupBy.by === 'time'
        ? toBucketSql(`(CAST(day AS BIGINT) * ${DAY_MS})`, groupBy.starts, bind)
        : groupBy.by === 'linkDay'
          ? `(value * ${LINK_DAYS} + CAST(day AS BIGINT))`
          : toRowColumn(plan.set, groupBy.by)
  const conditions = [...toRowConditions(builder), days, ...toFilterConditions(builder)]
  const grouping = groupBy.by === 'total' ? '' : ' GROUP BY key'
  return `SELECT ${key} AS key, sum(${clicks}) AS c, sum(${visitors}) AS v FROM ${table} WHERE ${conditions.join(' AND ')}${grouping}`
}

/** The column with the value in the rows of a set. */
const toRowColumn = (set: RollUpSet, column: string) => (set === 'people' ? column : 'value')

export const toWorkspaceCondition = ({ workspaceId }: HitQuery, bind: ValueBinder) =>
  `workspace_id = ${bind(workspaceId)}`

export const toNameCondition = (set: RollUpSet, bind: ValueBinder) => `name = ${bind(toSetNumber(set))}`

/** The rows of the workspace and the set. */
const toRowConditions = ({ query, plan: { set }, bind }: Builder): string[] => [
  toWorkspaceCondition(query, bind),
  ...(CLICK_COLUMNS.some((each) => each === set) ? [toNameCondition(set, bind)] : []),
]

const toFilterConditions = ({ query, plan, dialect, bind }: Builder): string[] =>
  query.filters.map((filter) => {
    const column = toRowColumn(plan.set, filter.column)
    const columns = { [filter.column]: column } as Record<HitColumn, string>
    return toFilterSql(toRowFilter(filter), columns, dialect, bind)
  })

/** Converts a filter for rows, in which a missing value has its label. */
const toRowFilter = (filter: HitFilter) => ({
  ...filter,
  values: [...new Set(filter.values.map((value) => value ?? toNullLabel(filter.column)))],
})

/** Visitors before a cut have their first click there, and visitors after it their last. */
function toCutPiece(builder: Builder): string {
  const { query, plan, dialect, bind } = builder
  const { cuts } = plan
  const days = cuts.map(({ day }) => day)
  const table = dialect.pairs(bind(days), bind(cuts.map(({ slot }) => slot)))
  const isLate = 'slot >= cut_slot'
  const conditions = [
    ...toRowConditions(builder),
    `day >= ${bind(Math.min(...days))} AND day <= ${bind(Math.max(...days))}`,
  ]
  const cut = `SELECT link_id AS cut_day, slot AS cut_slot FROM ${table} AS pairs`
  const pieces = `SELECT CAST(day AS BIGINT) * ${DAY_MS} + CASE WHEN ${isLate} THEN cut_slot * ${SLOT_MS} ELSE 0 END AS moment,
    sum(clicks) AS c, sum(CASE WHEN ${isLate} THEN lasts ELSE firsts END) AS v
    FROM (SELECT * FROM roll_slots WHERE ${conditions.join(' AND ')}) AS slots JOIN (${cut}) AS cuts ON day = cut_day GROUP BY moment`
  const key = query.groupBy.by === 'time' ? toBucketSql('moment', query.groupBy.starts, bind) : 'NULL'
  return `SELECT ${key} AS key, c, v FROM (${pieces}) AS cut_pieces WHERE moment >= ${bind(query.start)} AND moment < ${bind(query.end)}`
}

/** Counts of hits outside roll-ups. A visitor belongs to one day and a day is in one span, so the pieces add up. */
export const toRawPieces = (builder: Builder): string[] =>
  groupNearSpans(builder.plan.raw).map((spans) => toRawPiece(builder, spans))

/** Each piece makes the statement longer. */
const RAW_PIECES_MAX = 4

/**
 * Divides spans into few groups, at the widest gaps. For one range DuckDB skips the blocks outside it, but for a condition with
 * several ranges it reads all blocks from the first to the last range.
 */
export function groupNearSpans(spans: readonly DaySpan[]): DaySpan[][] {
  if (spans.length === 0) return []
  const gaps = spans.slice(1).map(({ start }, n) => ({ after: n, width: start - (spans[n] as DaySpan).end }))
  const widest = gaps.sort((a, b) => b.width - a.width).slice(0, RAW_PIECES_MAX - 1)
  const ends = [...widest.map(({ after }) => after + 1).sort((a, b) => a - b), spans.length]
  return ends.map((end, n) => spans.slice(ends[n - 1] ?? 0, end))
}

function toRawPiece({ query, dialect, bind }: Builder, spans: readonly DaySpan[]): string {
  const { groupBy } = query
  const [first, last] = [spans[0] as DaySpan, spans.at(-1) as DaySpan]
  const range = toSelectionSql({ ...query, start: first.start, end: last.end }, dialect, bind)
  const where = spans.length === 1 ? range : `${range} AND ${toAnySpanSql('recorded_at', spans, bind)}`
  if (isOriginGrouping(groupBy)) {
    const by = { by: groupBy.by, nullAs: groupBy.nullAs }
    const all = toTopOriginsSql(by, { where, visitors: '' }, dialect, bind)
    return `SELECT key, clicks AS c, visitors AS v FROM (${all}) AS origins`
  }
  const { key } = toGroupingSql(groupBy, dialect, bind)
  const isCounted = query.filters.length === 0 && ['total', 'time', 'linkId', 'linkDay'].includes(groupBy.by)
  return `SELECT ${key} AS key, count(*) AS c, ${dialect.countVisitors} AS v FROM ${isCounted ? dialect.countedHits : 'hits'}
    WHERE ${where}${groupBy.by === 'total' ? '' : ' GROUP BY key'}`
}

const toAnySpanSql = (column: string, spans: readonly DaySpan[], bind: ValueBinder) =>
  `(${spans.map(({ start, end }) => `${column} >= ${bind(start)} AND ${column} < ${bind(end)}`).join(' OR ')})`

/** The condition of the spans' days. Engines skip blocks by its outer bounds. */
export function toSpanSql(spans: readonly DaySpan[], bind: ValueBinder): string {
  const any = toAnySpanSql('day', spans, bind)
  const [first, last] = [spans[0], spans.at(-1)]
  if (!first || !last) return 'false'
  return spans.length === 1 ? any : `${any} AND day >= ${bind(first.start)} AND day < ${bind(last.end)}`
}
