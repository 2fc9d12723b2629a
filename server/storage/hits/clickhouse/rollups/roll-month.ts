// Sums a month from the roll-ups of its days. The sums count while exactly these roll-ups of the days do.

import { log } from '../../../../lib/log.ts'
import type { SqlValue } from '../../../filter-sql.ts'
import { listMonthStatements } from '../../rollups/roll-sql.ts'
import { toNextMonth } from '../../rollups/rollup.ts'
import { toPlaceholder } from '../parameters.ts'
import { createRandomNumber } from './day-changes.ts'
import { RULES } from './roll-rules.ts'
import { listDayRolls, readValidRolls, type ValidRolls } from './roll-state.ts'
import { MONTH_SUM_TABLES } from './roll-tables.ts'
import { countRows, IS_EVERY, type RollClient, runAsRoll, storeSums } from './store-sums.ts'

/** @param withHits the months that have hits @returns the oldest one whose days are all rolled up, and which has no sums of them */
export const findMonth = ({ days, months }: ValidRolls, withHits: readonly number[]): number | undefined =>
  withHits.find((month) => !months.has(month) && listDayRolls(days, month) !== undefined)

/** @returns whether the month has sums now */
export async function rollMonth(client: RollClient, month: number): Promise<boolean> {
  const roll = createRandomNumber()
  const isRolled = await runAsRoll(client, new Map([[roll, -month]]), async () => {
    const span = { start: month, end: toNextMonth(month) }
    const { days, months } = await readValidRolls(client.select, RULES, span)
    const dayRolls = listDayRolls(days, month)
    if (!dayRolls || months.has(month)) return false
    const where = `day >= ${span.start} AND day < ${span.end} AND roll IN (${dayRolls.join(', ')})`
    for (const statement of listMonthStatements(month, where))
      await storeSums(client, statement, String(roll), [])
    const counts = await countRows(client, MONTH_SUM_TABLES, span, [{ roll }])
    const sources = ['roll_links', 'roll_values', 'roll_urls', 'roll_people'].map(
      (table) =>
        `SELECT '${table}', sumIf(clicks, ${IS_EVERY[table] ?? 'true'}) FROM ${table} WHERE ${where}`,
    )
    const sums = await client.select(sources.join(' UNION ALL '))
    const isWhole = sums.every(
      ([table, sum]) =>
        counts.find((each) => each.table === String(table).replace('roll_', 'roll_month_'))?.clicks ===
        Number(sum),
    )
    if (!isWhole) log.error('hits.roll_up_differs', { month })
    else {
      const rows = counts.reduce((sum, each) => sum + each.rows, 0)
      await addMonthMark(client, [month, roll, dayRolls, RULES, rows])
    }
    return isWhole
  })
  return isRolled === true
}

async function addMonthMark(client: RollClient, params: SqlValue[]): Promise<void> {
  const cells = params.map((value, index) => toPlaceholder(index + 1, value)).join(', ')
  await client.execute(
    `INSERT INTO roll_month_marks (day, roll, day_rolls, rules, rows, made_at) SETTINGS async_insert = 0
     SELECT ${cells}, now64(3)`,
    { params },
  )
}
