// Stores the sums of roll-ups, and counts what is stored.

import type { SqlValue } from '../../../filter-sql.ts'
import type { RollUpStatement } from '../../rollups/roll-sql.ts'
import { toSetNumber } from '../../rollups/rolled-sql.ts'
import type { ClickHouseStatements } from '../client.ts'
import { toPlaceholder } from '../parameters.ts'
import type { RollSpan } from './day-snapshot.ts'
import { addStep, listOpenRolls, SUMS_SECONDS } from './roll-steps.ts'

/** All statements run at one server: what one of them has stored, the next ones must find. */
export type RollClient = ClickHouseStatements

/** Few threads: redirects and questions go first. Large groups go to the disk. */
const SUM_SETTINGS = `async_insert = 0, max_threads = 2, max_insert_threads = 1, max_execution_time = ${SUMS_SECONDS},
  max_bytes_before_external_group_by = 500000000, prefer_column_name_to_alias = 1`

/**
 * Says that roll-ups are being made. When two begin the same day at once, the one with the smaller number goes on.
 * @param claims the number of each roll-up, and its day @returns undefined when another one goes on
 */
export async function runAsRoll<T>(
  client: RollClient,
  claims: ReadonlyMap<number, number>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const rolls = [...claims.keys()]
  await addStep(client, 'begun', rolls, [...claims.values()])
  try {
    const days = new Set(claims.values())
    const others = (await listOpenRolls(client)).filter(({ roll, day }) => days.has(day) && !claims.has(roll))
    const isFirst = others.every((other) => other.roll > Math.min(...rolls))
    return isFirst ? await work() : undefined
  } finally {
    await addStep(client, 'ended', rolls)
  }
}

/** Stores what a SELECT makes. @param roll an expression of the number of the roll-up */
export const storeSums = (
  client: RollClient,
  { table, columns, select }: RollUpStatement,
  roll: string,
  params: SqlValue[],
): Promise<void> =>
  client.execute(
    `INSERT INTO ${table} (workspace_id, day, ${columns}, roll) SETTINGS ${SUM_SETTINGS} SELECT *, ${roll} FROM (${select}) AS sums`,
    { params, timeoutMs: (SUMS_SECONDS + 10) * 1000 },
  )

/** The number of the roll-up of a row's day. */
export function toRollSql(days: readonly { day: number; roll: number }[]): string {
  const toList = (values: number[]) => `CAST([${values.join(', ')}], 'Array(Int64)')`
  return `transform(toInt64(day), ${toList(days.map(({ day }) => day))}, ${toList(days.map(({ roll }) => roll))}, toInt64(0))`
}

/** The rows that together have every click once, for each column. Only sources with a name have rows of their own. */
const NOT_SOURCE = `name <> ${toSetNumber('source')}`
export const IS_EVERY: Record<string, string> = { roll_values: NOT_SOURCE, roll_month_values: NOT_SOURCE }

interface RowCount {
  table: string
  roll: number
  rows: number
  clicks: number
  /** Rows that have the key of another row. */
  doubles: number
}

/**
 * The columns that together are different in each row of a roll-up. In the other tables, a row that is there twice shows in
 * the clicks. They have many rows, and comparing all of these would take memory.
 */
const KEYS: Record<string, string> = {
  roll_days: 'workspace_id',
  roll_slots: 'workspace_id, slot',
  roll_links: 'workspace_id, value',
  roll_mixed: 'workspace_id, name',
}

export async function countRows(
  client: Pick<RollClient, 'select'>,
  tables: readonly string[],
  { start, end }: RollSpan,
  rolls: readonly { roll: number }[],
): Promise<RowCount[]> {
  const params: SqlValue[] = [start, end, rolls.map(({ roll }) => roll)]
  const [first, after, list] = params.map((value, index) => toPlaceholder(index + 1, value))
  const selects = tables.map((table) => {
    const clicks = table === 'roll_mixed' ? '0' : `sumIf(clicks, ${IS_EVERY[table] ?? 'true'})`
    const key = KEYS[table]
    const doubles = key === undefined ? '0' : `count() - uniqExact(${key})`
    return `SELECT '${table}', roll, toInt64(count()), toInt64(${clicks}), toInt64(${doubles}) FROM ${table}
      WHERE day >= ${first} AND day < ${after} AND roll IN ${list} GROUP BY roll`
  })
  const rows = await client.select(selects.join(' UNION ALL '), { params })
  return rows.map(([table, roll, count, sum, same]) => ({
    table: String(table),
    roll: Number(roll),
    rows: Number(count),
    clicks: Number(sum),
    doubles: Number(same),
  }))
}
