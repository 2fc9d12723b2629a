// Rolls up days: stores their sums under random numbers, and marks those days as valid whose hits are the same before and
// after.

import { log } from '../../../../lib/log.ts'
import type { SqlValue } from '../../../filter-sql.ts'
import { toMixedStatement } from '../../rollups/roll-sql.ts'
import { CLICK_COLUMNS } from '../../rollups/rollup.ts'
import { toPlaceholder } from '../parameters.ts'
import { createRandomNumber } from './day-changes.ts'
import { type DaySnapshot, EMPTY_DAY, type RollSpan, readSnapshot } from './day-snapshot.ts'
import { fromWorkspaceDay, RULES, toDaySums } from './roll-rules.ts'
import { DAY_SUM_TABLES } from './roll-tables.ts'
import { countRows, type RollClient, runAsRoll, storeSums, toRollSql } from './store-sums.ts'

/** A day that is being rolled up. Days without hits have no rows, and share a number. */
interface RollingDay extends DaySnapshot {
  day: number
  roll: number
  rows: number
}

/**
 * @param span some days that are no more than a few hundred thousand hits together, or one day
 * @param changes those that each day has had for some time (`DAY_CHANGES`), when nothing of it was unfinished
 * @returns the days that are rolled up now, or `busy` when another process rolls them up, or deletions run. Days that have
 * changed meanwhile leave rows behind, without a mark.
 */
export async function rollDays(
  client: RollClient,
  span: RollSpan,
  changes: ReadonlyMap<number, { changes: number }>,
): Promise<number[] | 'busy'> {
  const shared = createRandomNumber()
  const before = await readSnapshot(client.select, span)
  if (before.mutations.unfinished > 0) return 'busy'
  const days: RollingDay[] = []
  for (let day = span.start; day < span.end; day++) {
    const snapshot = before.days.get(day) ?? EMPTY_DAY
    if (snapshot.changes === (changes.get(day)?.changes ?? 0))
      days.push({ ...snapshot, day, roll: snapshot.hits === 0 ? shared : createRandomNumber(), rows: 0 })
  }
  const claims = new Map(days.map(({ day, roll }) => [roll, day]))
  const marked = await runAsRoll(client, claims, async () => {
    const full = days.filter(({ hits }) => hits > 0)
    if (full.length > 0) await sumDays(client, full)
    const after = await readSnapshot(client.select, span)
    if (!Bun.deepEquals([after.silent, after.mutations], [before.silent, before.mutations])) return 'busy'
    const same = days.filter(({ day, rows }) =>
      Number.isNaN(rows)
        ? false
        : Bun.deepEquals(after.days.get(day) ?? EMPTY_DAY, before.days.get(day) ?? EMPTY_DAY),
    )
    await addDayMarks(client, same, before.silent)
    return same.map(({ day }) => day)
  })
  return marked ?? 'busy'
}

async function addDayMarks(client: RollClient, days: readonly RollingDay[], silent: number): Promise<void> {
  if (days.length === 0) return
  const params: SqlValue[] = [
    days.map(({ day }) => day),
    days.map(({ roll }) => roll),
    days.map(({ changes }) => changes),
    days.map(({ rows }) => rows),
    RULES,
    silent,
  ]
  const [dayList, rolls, changes, rows, ...rest] = params.map((value, index) =>
    toPlaceholder(index + 1, value),
  )
  await client.execute(
    `INSERT INTO roll_marks (day, roll, touches, rows, rules, silent, made_at) SETTINGS async_insert = 0
     SELECT mark.1, mark.2, mark.3, mark.4, ${rest.join(', ')}, now64(3)
     FROM (SELECT arrayJoin(arrayZip(${dayList}, ${rolls}, ${changes}, ${rows})) AS mark)`,
    { params },
  )
}

/** The columns that have every click in `roll_values`: URLs have a table of their own, and sources only those with a name. */
const VALUE_COLUMNS = CLICK_COLUMNS.length - 2

/** Counts the rows of each day. They are NaN where the sums are not what the hits are. */
async function sumDays(client: RollClient, days: RollingDay[]): Promise<void> {
  const span = { start: days[0]?.day ?? 0, end: (days.at(-1)?.day ?? 0) + 1 }
  const { statements, params } = toDaySums(span)
  const roll = toRollSql(days)
  // One statement for each table: each statement syncs what it stores, and ClickHouse has to merge it later.
  for (const [table, same] of Map.groupBy(statements, (each) => each.table)) {
    const select = same.map((each) => fromWorkspaceDay(each.select)).join(' UNION ALL ')
    await storeSums(client, { table, columns: same[0]?.columns ?? '', select }, roll, params)
  }
  const rows = `day >= ${span.start} AND day < ${span.end} AND roll IN (${days.map((each) => each.roll).join(', ')})`
  await storeSums(client, toMixedStatement(rows), roll, [])
  const counts = await countRows(client, DAY_SUM_TABLES, span, days)
  for (const each of days) {
    const tables = counts.filter((count) => count.roll === each.roll)
    each.rows = tables.reduce((sum, { rows }) => sum + rows, 0)
    // A statement that has run twice, or has lost rows, shows here.
    const isWhole = DAY_SUM_TABLES.every((table) => {
      const { clicks = 0, doubles = 0 } = tables.find((count) => count.table === table) ?? {}
      const times = table === 'roll_mixed' ? 0 : table === 'roll_values' ? VALUE_COLUMNS : 1
      return clicks === each.clicks * times && doubles === 0
    })
    if (isWhole) continue
    log.error('hits.roll_up_differs', { day: each.day, clicks: each.clicks })
    each.rows = Number.NaN
  }
}
