// The marks of rolled-up days and months. A change of a day's hits deletes its mark in the same transaction.

import type { DuckDBConnection } from '@duckdb/node-api'
import { DAY_MS } from '../../../../lib/utc-day.ts'
import type { HitQuery } from '../../hit-engine.ts'
import type { RollUpChoice } from '../../rollups/choose-roll-ups.ts'
import { SETS_WITHOUT_MONTHS } from '../../rollups/plan-days.ts'
import { toSetNumber } from '../../rollups/rolled-sql.ts'
import { CLICK_COLUMNS, type RollUpState, toDay, toMonth } from '../../rollups/rollup.ts'
import { DAY_TABLES, MONTH_TABLES, ROLL_UP_TABLES } from './tables.ts'

/** Reads the input of the planner in the connection's transaction. Fewer tables save planning time. */
export async function readRollUpState(
  connection: DuckDBConnection,
  { workspaceId, start, end }: HitQuery,
  { set, needsUnmixed }: RollUpChoice,
): Promise<Omit<RollUpState, 'hitDays'>> {
  const within = `day >= ${toDay(start)} AND day < ${toDay(end - 1) + 1}`
  const ofSet = `workspace_id = ${BigInt(workspaceId)} AND name = ${toSetNumber(set)} AND ${within}`
  const parts = [`SELECT 0 AS kind, day, 0 AS bound FROM roll_marks WHERE ${within}`]
  if (!SETS_WITHOUT_MONTHS.has(set)) parts.push(`SELECT 1, day, 0 FROM roll_month_marks WHERE ${within}`)
  if (needsUnmixed) parts.push(`SELECT 2, day, 0 FROM roll_mixed WHERE ${ofSet}`)
  if (CLICK_COLUMNS.some((each) => each === set))
    parts.push(`SELECT 3, day, max(bound) FROM roll_heads WHERE ${ofSet} GROUP BY day`)
  const rows = await readRows(connection, parts.join(' UNION ALL '))
  const days = [new Set<number>(), new Set<number>(), new Set<number>()] as const
  const tails = new Map<number, number>()
  for (const [kind, day, bound] of rows) {
    if (Number(kind) === 3) tails.set(Number(day), Number(bound))
    else days[Number(kind)]?.add(Number(day))
  }
  return { days: days[0], months: days[1], mixed: days[2], tails }
}

/** The first row number of inserted hits that are not committed. */
const FIRST_NEW_ROW = 36_028_797_018_960_000n

/**
 * Unmarks the days of the hits that the connection's transaction has inserted.
 * @param listDays lists the days in another way, in case a release of DuckDB numbers such rows differently
 * @returns all days of these hits, and how many of them were marked
 */
export async function unmarkNewHits(
  connection: DuckDBConnection,
  inserted: number,
  listDays: () => Promise<number[]>,
): Promise<{ days: number[]; unmarked: number }> {
  const rows = await readRows(
    connection,
    `SELECT recorded_at // ${DAY_MS} AS day, count(*) FROM hits_arrived WHERE rowid >= ${FIRST_NEW_ROW} GROUP BY day`,
  )
  const found = rows.reduce((sum, [, count]) => sum + Number(count), 0)
  const days = found === inserted ? rows.map(([day]) => Number(day)) : await listDays()
  return { days, unmarked: await unmarkDays(connection, days) }
}

/** @returns the number of deleted marks */
export async function unmarkDays(connection: DuckDBConnection, days: readonly number[]): Promise<number> {
  if (days.length === 0) return 0
  const months = new Set(days.map(toMonth))
  const { rowsChanged } = await connection.run(`DELETE FROM roll_marks WHERE day IN (${days.join(', ')})`)
  await connection.run(`DELETE FROM roll_month_marks WHERE day IN (${[...months].join(', ')})`)
  return rowsChanged
}

/**
 * Compares the number of rows of each day and month with its mark, and unmarks those that differ, and the month of each such
 * day. Otherwise rolling up the day again and loading another day could delete the same mark.
 * @returns the number of days and months that differed
 */
export async function checkRollUps(connection: DuckDBConnection): Promise<number> {
  const findWrong = async (marks: string, tables: Record<string, string>) => {
    const counts = Object.keys(tables).map((table) => `SELECT day, count(*) AS n FROM ${table} GROUP BY day`)
    const sums = `SELECT day, sum(n) AS n FROM (${counts.join(' UNION ALL ')}) GROUP BY day`
    const rows = await readRows(
      connection,
      `SELECT ${marks}.day FROM ${marks} LEFT JOIN (${sums}) AS sums USING (day) WHERE total <> coalesce(n, 0)`,
    )
    return rows.map(([day]) => Number(day))
  }
  const days = await findWrong('roll_marks', DAY_TABLES)
  const months = await findWrong('roll_month_marks', MONTH_TABLES)
  await unmarkDays(connection, days)
  if (months.length > 0)
    await connection.run(`DELETE FROM roll_month_marks WHERE day IN (${months.join(', ')})`)
  return days.length + months.length
}

/**
 * Deletes the roll-ups of the days that end at or before this moment.
 * @param isCut true if hits were deleted: then the day of the moment is unmarked
 */
export async function deleteRollUpsBefore(
  connection: DuckDBConnection,
  before: number,
  isCut: boolean,
): Promise<void> {
  const day = toDay(before)
  if (isCut && before % DAY_MS !== 0) await unmarkDays(connection, [day])
  for (const table of Object.keys(ROLL_UP_TABLES))
    if (table !== 'roll_rules') await connection.run(`DELETE FROM ${table} WHERE day < ${day}`)
}

/**
 * Unmarks these days, and deletes the sums of one workspace on them, because a day without hits may never be rolled up again,
 * and its old sums would stay.
 */
export async function deleteRollUpsOf(
  connection: DuckDBConnection,
  workspaceId: number,
  days: readonly number[],
): Promise<void> {
  if (days.length === 0) return
  await unmarkDays(connection, days)
  const remove = async (tables: object, numbers: Iterable<number>) => {
    for (const table of Object.keys(tables))
      await connection.run(
        `DELETE FROM ${table} WHERE workspace_id = $1::BIGINT AND day IN (${[...numbers].join(', ')})`,
        [BigInt(workspaceId)],
      )
  }
  await remove(DAY_TABLES, days)
  await remove(MONTH_TABLES, new Set(days.map(toMonth)))
}

/** The UTC days that have hits of a condition. */
export async function listDaysOf(
  connection: DuckDBConnection,
  condition: string,
  params: bigint[],
): Promise<number[]> {
  const rows = await readRows(
    connection,
    `SELECT DISTINCT recorded_at // ${DAY_MS} FROM hits WHERE ${condition}`,
    params,
  )
  return rows.map(([day]) => Number(day))
}

const readRows = async (connection: DuckDBConnection, text: string, params: bigint[] = []) =>
  (await connection.runAndReadAll(text, params)).getRows()
