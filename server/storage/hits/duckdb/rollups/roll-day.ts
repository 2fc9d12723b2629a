// Rolls up one day or one month of the DuckDB file, in one transaction each.

import type { DuckDBConnection } from '@duckdb/node-api'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { SqlValue } from '../../../filter-sql.ts'
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

/** A day is closed so long after its end: most late hits are in by then. */
const CLOSED_AFTER_MS = 15 * 60 * 1000

/** Days or months that can be rolled up next, in one transaction. `end` is exclusive. */
export interface RollUpTask {
  kind: 'days' | 'month'
  start: number
  end: number
}

/**
 * @param isResting whether the day, or the month that begins on it, has to wait
 * @returns the oldest of the last `RECENT_DAYS` that can be rolled up, else the oldest day of all, else a month; how many
 *   closed days wait; and `RollUpState.hitDays`
 */
export async function findRollUpTask(
  connection: DuckDBConnection,
  now: number,
  isResting: (kind: RollUpTask['kind'], day: number) => boolean,
): Promise<{ task?: RollUpTask; waiting: number; hitDays: DaySpan }> {
  const hitDays = await findHitDays(connection)
  const after = Math.min(Math.floor((now - CLOSED_AFTER_MS) / DAY_MS), hitDays.end)
  const marked = await readDays(connection, 'SELECT day FROM roll_marks')
  const open: number[] = []
  for (let day = hitDays.start; day < after; day++) if (!marked.has(day)) open.push(day)
  const waiting = open.length
  const ready = open.filter((each) => !isResting('days', each))
  const day = ready.find((each) => each >= toDay(now) - RECENT_DAYS) ?? ready[0]
  if (day !== undefined) {
    // Days without hits are rolled up with the first of them: they have nothing. Later days may have their marks.
    let limit = day + 1
    while (limit < after && !marked.has(limit)) limit++
    const end = await findNextHitDay(connection, day, limit)
    return { task: { kind: 'days', start: day, end: Math.max(day + 1, end) }, waiting, hitDays }
  }
  const months = await readDays(connection, 'SELECT day FROM roll_month_marks')
  const month = findWholeMonth(marked, (each) => months.has(each) || isResting('month', each))
  if (month === undefined) return { waiting, hitDays }
  return { task: { kind: 'month', start: month, end: toNextMonth(month) }, waiting, hitDays }
}

/**
 * From the first day that has hits up to the day after the last one. Each bound is found in one or two row groups, for their
 * statistics say which; `min()` and `max()` would read the whole column.
 */
export async function findHitDays(connection: DuckDBConnection): Promise<DaySpan> {
  const bounds = ['hits_arrived', 'hits_sorted'].flatMap((table) =>
    ['ASC', 'DESC'].map(
      (order) => `(SELECT recorded_at FROM ${table} ORDER BY recorded_at ${order} LIMIT 1)`,
    ),
  )
  const days = (await readRows(connection, bounds.join(' UNION ALL '))).map(([at]) => toDay(Number(at)))
  return days.length === 0 ? { start: 0, end: 0 } : { start: Math.min(...days), end: Math.max(...days) + 1 }
}

/** @returns the day itself when it has hits, else the next day that has; at most `after` */
async function findNextHitDay(connection: DuckDBConnection, day: number, after: number): Promise<number> {
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

function findWholeMonth(
  marked: ReadonlySet<number>,
  isLeftOut: (month: number) => boolean,
): number | undefined {
  for (const month of new Set([...marked].map(toMonth))) {
    if (isLeftOut(month)) continue
    let day = month
    while (day < toNextMonth(month) && marked.has(day)) day++
    if (day === toNextMonth(month)) return month
  }
  return undefined
}

/** Makes the sums and the marks of the task. Run it in a transaction. @param headValues see `toHeadStatement` */
export const rollUp = (connection: DuckDBConnection, task: RollUpTask, headValues?: number): Promise<void> =>
  task.kind === 'days' ? rollUpDays(connection, task) : rollUpMonth(connection, task, headValues)

async function rollUpDays(connection: DuckDBConnection, { start, end }: RollUpTask): Promise<void> {
  for (const table of Object.keys(DAY_TABLES)) await deleteDays(connection, table, start, end)
  // Sums of a month are of the days as they were.
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
  connection: DuckDBConnection,
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

const deleteDays = (connection: DuckDBConnection, table: string, start: number, end: number) =>
  connection.run(`DELETE FROM ${table} WHERE day >= ${start} AND day < ${end}`)

/** A temporary table, which is never written to the file. */
const SOURCE = 'roll_source'
const ORIGIN_COLUMNS = ['referrer', 'utm_source', 'utm_medium']

/** @returns whether the day has hits that roll-ups are about */
async function createSource(connection: DuckDBConnection, day: number): Promise<boolean> {
  await connection.run(`DROP TABLE IF EXISTS ${SOURCE}`)
  const params: SqlValue[] = []
  const bind = (value: SqlValue) => duckDbDialect.placeholder(params.push(value), value)
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

const insert = async (connection: DuckDBConnection, { table, columns, select }: RollUpStatement) =>
  (await connection.run(`INSERT INTO ${table} (workspace_id, day, ${columns}) ${select}`)).rowsChanged

const readRows = async (connection: DuckDBConnection, text: string) =>
  (await connection.runAndReadAll(text)).getRows()
const readDays = async (connection: DuckDBConnection, text: string) =>
  new Set((await readRows(connection, text)).map(([day]) => Number(day)))
