// What is done when bookkeeping of roll-ups is lost: nothing counts any more, and all days are rolled up again.

import { DAY_MS } from '../../../../lib/utc-day.ts'
import { CLICKHOUSE_CODES, ClickHouseError } from '../clickhouse-error.ts'
import { toPlaceholder } from '../parameters.ts'
import { MARK_TABLES } from './roll-tables.ts'
import { createTouchSource, type TouchClient, touchDays } from './touches.ts'

/** Deletes all marks that are there. No data are read, so damaged ones go too. */
export async function dropAllMarks(client: TouchClient): Promise<void> {
  const names = [...MARK_TABLES]
  const found = await client.select(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ${toPlaceholder(1, names)}`,
    { params: [names] },
  )
  for (const [table] of found) await emptyTable(client, String(table))
}

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

/**
 * Touches each day that may be rolled up. When touches were lost, a batch may be on its way whose touch was one of them: now
 * every process that rolls up waits for the batch, as it does after each touch.
 */
export async function touchAllDays(client: TouchClient): Promise<void> {
  const [[count, first, today] = []] = await client.select(
    `SELECT count(), intDiv(min(recorded_at), ${DAY_MS}), intDiv(toUnixTimestamp(now()), ${DAY_MS / 1000}) FROM hits`,
  )
  if (Number(count) === 0) return
  const length = Math.max(0, Number(today) - Number(first) + 1)
  const days = Array.from({ length }, (_, index) => Number(first) + index)
  await touchDays(client, createTouchSource('repair'), days)
}
