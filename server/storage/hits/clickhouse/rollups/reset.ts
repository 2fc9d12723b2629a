// Resets roll-ups whose tables are lost: no earlier roll-up counts any more, even if its roller stores the mark later.

import type { SqlValue } from '../../../filter-sql.ts'
import { requireCaughtUp } from '../caught-up.ts'
import { CLICKHOUSE_CODES, ClickHouseError } from '../clickhouse-error.ts'
import { toPlaceholder } from '../parameters.ts'
import { isReadable } from './find-unreadable.ts'
import { NO_DAY } from './roll-tables.ts'
import { createRandomNumber, createTouchSource, type TouchClient } from './touches.ts'

/**
 * A replica that is down empties its table when it is back, before it answers (`isBehind`). It must not stop a repair.
 * @param table one without partitions
 */
export async function emptyTable(client: TouchClient, table: string): Promise<void> {
  try {
    await client.execute(
      `ALTER TABLE ${table} DROP PARTITION ID 'all' SETTINGS max_partition_size_to_drop = 0, alter_sync = 2`,
    )
  } catch (error) {
    if (!(error instanceof ClickHouseError && error.code === CLICKHOUSE_CODES.unfinished)) throw error
  }
}

/** How long this waits for touches that another replica has. */
const CATCH_UP_MS = 5000

/**
 * Touches all days after this one that have touches. Each mark names touches of its day, so no mark counts that a roller
 * has stored, or is about to store.
 */
export async function touchAllDays(client: TouchClient, after = NO_DAY): Promise<void> {
  // Without touches no mark counts either.
  if (!(await isReadable(client, 'roll_touches'))) return emptyTable(client, 'roll_touches')
  await requireCaughtUp(client, ['roll_touches'], CATCH_UP_MS)
  const { source, number } = createTouchSource('repair')
  const params: SqlValue[] = [source, number, createRandomNumber(), after]
  const [name, kind, touch, day] = params.map((value, index) => toPlaceholder(index + 1, value))
  await client.execute(
    `INSERT INTO roll_touches SETTINGS async_insert = 0
     SELECT DISTINCT day, ${name}, ${kind}, ${touch}, now64(3) FROM roll_touches WHERE day > ${day}`,
    { params },
  )
}
