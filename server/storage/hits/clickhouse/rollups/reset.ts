// Resets roll-ups whose tables are lost: no earlier roll-up counts any more, even if its roller stores the mark later.

import type { SqlValue } from '../../../filter-sql.ts'
import { requireCaughtUp } from '../caught-up.ts'
import { CLICKHOUSE_CODES, ClickHouseError } from '../clickhouse-error.ts'
import { toPlaceholder } from '../parameters.ts'
import { createChangeSource, createRandomNumber, type DayChangeClient } from './day-changes.ts'
import { isReadable } from './find-unreadable.ts'
import { NO_DAY } from './roll-tables.ts'

/**
 * A replica that is down empties its table when it is back, before it answers (`isBehind`). It must not stop a repair.
 * @param table one without partitions
 */
export async function emptyTable(client: DayChangeClient, table: string): Promise<void> {
  try {
    await client.execute(
      `ALTER TABLE ${table} DROP PARTITION ID 'all' SETTINGS max_partition_size_to_drop = 0, alter_sync = 2`,
    )
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.code === CLICKHOUSE_CODES.unfinished)) throw error
  }
}

/** How long this waits for changes that another replica has. */
const CATCH_UP_MS = 5000

/**
 * Records another change of all days after this one that have changes. Each mark names changes of its day, so no mark
 * counts that a roller has stored, or is about to store.
 */
export async function recordAllDaysChanged(client: DayChangeClient, after = NO_DAY): Promise<void> {
  // Without changes no mark counts either.
  if (!(await isReadable(client, 'roll_touches'))) return emptyTable(client, 'roll_touches')
  await requireCaughtUp(client, ['roll_touches'], CATCH_UP_MS)
  const { source, number } = createChangeSource('repair')
  const params: SqlValue[] = [source, number, createRandomNumber(), after]
  const [name, kind, change, day] = params.map((value, index) => toPlaceholder(index + 1, value))
  await client.execute(
    `INSERT INTO roll_touches SETTINGS async_insert = 0
     SELECT DISTINCT day, ${name}, ${kind}, ${change}, now64(3) FROM roll_touches WHERE day > ${day}`,
    { params },
  )
}
