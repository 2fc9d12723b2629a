// Rolls up one day or one month of the DuckDB file, in one transaction each.

import type { DuckDBConnection } from '@duckdb/node-api'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import { createBinder } from '../../../filter-sql.ts'
import { toOriginSql } from '../../../sources/origin-sql.ts'
import type { DaySpan } from '../../rollups/plan-days.ts'
import {
  listDayStatements,
  listMonthStatements,
  ROLLED_HITS,
  type RollUpStatement,
  toHeadStatement,
  toMixedStatement,
  toSourceColumns,
} from '../../rollups/roll-sql.ts'
import { RECENT_DAYS, toDay, toMonth, toNextMonth } from '../../rollups/rollup.ts'
import { duckDbDialect } from '../dialect.ts'
import { toDuckDbType, toDuckDbValue } from '../values.ts'
import { DAY_TABLES, MONTH_TABLES } from './tables.ts'

/** A day is closed this long after its end, when most late hits have arrived. */
const CLOSED_AFTER_MS = 15 * 60 * 1000

/** The connection that the statements of a roll-up run on. */
export type RollUpConnection = Pick<DuckDBConnection, 'run' | 'runAndReadAll'>

/** Days or months that can be rolled up next, in one transaction. `end` is exclusive. */
export interface RollUpTask {
  kind: 'days' | 'month'
  start: number
  end: number
}

export interface RollUpRests {
  /** @returns true if the day, or the month that begins on it, must wait */
  isResting(kind: RollUpTask['kind'], day: number): boolean
  hasFailed(kind: RollUpTask['kind'], day: number): boolean
}

/**
 * @returns the oldest of the last `RECENT_DAYS` that can be rolled up, else the oldest day of all, else a month; failed ones
 * come after all others. Also the number of waiting closed days, and `RollUpState.hitDays`
 */
export async function findRollUpTask(
  connection: RollUpConnection,
  now: number,
  { isResting, hasFailed }: RollUpRests,
): Promise<{ task?: RollUpTask; waiting: number; hitDays: DaySpan }> {
  const hitDays = await findHitDays(connection)
  const after = Math.min(Math.floor((now - CLOSED_AFTER_MS) / DAY_MS), hitDays.end)
  const marked = await readDays(connection, 'SELECT day FROM roll_marks')
  const open: number[] = []
  for (let day = hitDays.start; day < after; day++) if (!marked.has(day)) open.push(day)
  const months = listWholeMonths(marked, await readDays(connection, 'SELECT day FROM roll_month_marks'))
  const find = async (isLeftOut: typeof isResting): Promise<RollUpTask | undefined> => {
    const ready = open.filter((each) => !isLeftOut('days', each))
    const day = ready.find((each) => each >= toDay(now) - RECENT_DAYS) ?? ready[0]
    if (day !== undefined) return spanDays(connection, day, after, marked)
    const month = months.find((each) => !isLeftOut('month', each))
    return month === undefined ? undefined : { kind: 'month', start: month, end: toNextMonth(month) }
  }
  const untried = await find((kind, day) => isResting(kind, day) || hasFailed(kind, day))
  return { task: untried ?? (await find(isResting)), waiting: open.length, hitDays }
}

/** Consecutive days without hits are rolled up together, because there is nothing to sum up. Later days can have marks. */
async function spanDays(
  connection: RollUpConnection,
  start: number,
  after: number,
  marked: ReadonlySet<number>,
): Promise<RollUpTask> {
  let limit = start + 1
  while (limit < after && !marked.has(limit)) limit++
  const end = await findNextHitDay(connection, start, limit)
  return { kind: 'days', start, end: Math.max(start + 1, end) }
}

/**
 * From the first day with hits up to the day after the last one. Statistics lead to the one or two row groups of each bound;
 * `min()` and `max()` would read the whole column.
 */
export async function findHitDays(connection: RollUpConnection): Promise<DaySpan> {
  const bounds = ['hits_arrived', 'hits_sorted'].flatMap((table) =>
    ['ASC', 'DESC'].map(
      (order) => `(SELECT recorded_at FROM ${table} ORDER BY recorded_at ${order} LIMIT 1)`,
    ),
  )
  const days = (await readRows(connection, bounds.join(' UNION ALL '))).map(([at]) => toDay(Number(at)))
  return days.length === 0 ? { start: 0, end: 0 } : { start: Math.min(...days), end: Math.max(...days) + 1 }
}

/** @returns the day itself if it has hits, else the next day with hits; at most `after` */
async function findNextHitDay(connection: RollUpConnection, day: number, after: number): Promise<number> {
  const [[next] = []] = await readRows(
    connection,
    `SELECT min(recorded_at) FROM hits WHERE recorded_at >= ${day * DAY_MS} AND recorded_at < ${(day + 1) * DAY_MS}`,
  )
  if (next !== null) return day
  const [[later] = []] = await readRows(
    connection,
    `SELECT min(recorded_at) FROM hits WHERE recorded_at >= ${(day + 1) * DAY_MS} AND recorded_at < ${after * DAY_MS}`,
  )
  return later === null ? after : toDay(Number(later))
}

/** The months without a mark whose days all have marks. */
function listWholeMonths(marked: ReadonlySet<number>, rolled: ReadonlySet<number>): number[] {
  const isWhole = (month: number) => {
    let day = month
    while (day < toNextMonth(month) && marked.has(day)) day++
    return day === toNextMonth(month)
  }
  return [...new Set([...marked].map(toMonth))].filter((month) => !rolled.has(month) && isWhole(month))
}

/** Writes the sums and the marks of the task. Run it in a transaction. @param headValues see `toHeadStatement` */
export const rollUp = (connection: RollUpConnection, task: RollUpTask, headValues?: number): Promise<void> =>
  task.kind === 'days' ? rollUpDays(connection, task) : rollUpMonth(connection, task, headValues)

async function rollUpDays(connection: RollUpConnection, { start, end }: RollUpTask): Promise<void> {
  for (const table of Object.keys(DAY_TABLES)) await deleteDays(connection, table, start, end)
  // The sums of the month are outdated.
  await deleteDays(connection, 'roll_month_marks', toMonth(start), end)
  let total = 0
  if (await createSource(connection, start)) {
    for (const statement of listDayStatements(SOURCE, start)) total += await insert(connection, statement)
    total += await insert(connection, toMixedStatement(`day = ${start}`))
  }
  await connection.run(`DROP TABLE IF EXISTS ${SOURCE}`)
  await connection.run(
    `INSERT INTO roll_marks SELECT day, CASE WHEN day = ${start} THEN ${total} ELSE 0 END
     FROM (SELECT unnest(range(${start}, ${end})) AS day) AS days`,
  )
}

async function rollUpMonth(
  connection: RollUpConnection,
  { start, end }: RollUpTask,
  headValues?: number,
): Promise<void> {
  for (const table of Object.keys(MONTH_TABLES)) await deleteDays(connection, table, start, end)
  let total = 0
  for (const statement of listMonthStatements(start, `day >= ${start} AND day < ${end}`))
    total += await insert(connection, statement)
  total += await insert(connection, toHeadStatement(start, `day = ${start}`, headValues))
  await connection.run('INSERT INTO roll_month_marks VALUES ($1, $2)', [start, BigInt(total)])
}

const deleteDays = (connection: RollUpConnection, table: string, start: number, end: number) =>
  connection.run(`DELETE FROM ${table} WHERE day >= ${start} AND day < ${end}`)

/** A temporary table, which is never written to the file. */
const SOURCE = 'roll_source'
const ORIGIN_COLUMNS = ['referrer', 'utm_source', 'utm_medium']

/** @returns true if the day has hits for roll-ups */
async function createSource(connection: RollUpConnection, day: number): Promise<boolean> {
  await connection.run(`DROP TABLE IF EXISTS ${SOURCE}`)
  const { params, bind } = createBinder(duckDbDialect)
  const columns = toSourceColumns((slotMs) => `(recorded_at % ${DAY_MS}) // ${slotMs}`)
  const hits = `SELECT ${columns} FROM hits WHERE recorded_at >= ${day * DAY_MS} AND recorded_at < ${(day + 1) * DAY_MS} AND ${ROLLED_HITS}`
  const distinct = `(SELECT DISTINCT ${ORIGIN_COLUMNS.join(', ')} FROM picked)`
  const origins = toOriginSql(distinct, ['source', 'channel'], duckDbDialect, bind)
  const same = ORIGIN_COLUMNS.map((column) => `picked.${column} IS NOT DISTINCT FROM origins.${column}`)
  await connection.run(
    `CREATE TEMP TABLE ${SOURCE} AS WITH picked AS MATERIALIZED (${hits})
     SELECT picked.*, origins.source, origins.channel FROM picked JOIN ${origins} AS origins ON ${same.join(' AND ')}`,
    params.map(toDuckDbValue),
    params.map(toDuckDbType),
  )
  const [[count] = []] = await readRows(connection, `SELECT count(*) FROM ${SOURCE}`)
  return Number(count) > 0
}

const insert = async (connection: RollUpConnection, { table, columns, select }: RollUpStatement) =>
  (await connection.run(`INSERT INTO ${table} (workspace_id, day, ${columns}) ${select}`)).rowsChanged

const readRows = async (connection: RollUpConnection, text: string) =>
  (await connection.runAndReadAll(text)).getRows()
const readDays = async (connection: RollUpConnection, text: string) =>
  new Set((await readRows(connection, text)).map(([day]) => Number(day)))
