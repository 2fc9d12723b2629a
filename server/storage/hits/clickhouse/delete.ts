// Deletes hits in ClickHouse. A mutation rewrites the parts that have them: a lightweight delete would only mark them.
// Roll-ups of the days count no more; those of an erased workspace lose its rows.

import { DAY_MS } from '../../../lib/utc-day.ts'
import type { SqlValue, ValueBinder } from '../../filter-sql.ts'
import type { ImportedHits } from '../hit-engine.ts'
import { toNextMonth } from '../rollups/rollup.ts'
import type { ClickHouseClient } from './client.ts'
import { toFirstDay, toPartition } from './month-partition.ts'
import { toPlaceholder } from './parameters.ts'
import { changeHits, createChangeSource, endEarlierDeletions } from './rollups/day-changes.ts'
import { eraseRolledWorkspaces } from './rollups/delete-rolls.ts'

/** A mutation of a large table rewrites many gigabytes. ClickHouse goes on with it when nobody waits any more. */
const DELETE_TIMEOUT_MS = 15 * 60_000

export const createBinder =
  (params: SqlValue[]): ValueBinder =>
  (value) =>
    toPlaceholder(params.push(value), value)

interface Condition {
  text: string
  params: SqlValue[]
}

function toCondition(write: (bind: ValueBinder) => string): Condition {
  const params: SqlValue[] = []
  return { text: write(createBinder(params)), params }
}

const DAY = `intDiv(recorded_at, ${DAY_MS})`

/**
 * Deletes the hits of a condition, on every replica. Their bytes stay in inactive parts for some minutes
 * (`old_parts_lifetime`, by default 8).
 *
 * Another node may load such hits meanwhile, of other days. No roll-up of these days knows of the deletion, so they are
 * deleted in another turn.
 * @param job names what is deleted: the same when a deletion that has failed is repeated, also with another condition
 */
export async function deleteWhere(
  client: ClickHouseClient,
  job: string,
  write: (bind: ValueBinder) => string,
): Promise<void> {
  const condition = toCondition(write)
  for (;;) {
    const days = await listDays(client, condition)
    if (days.length === 0) break
    const ofDays = toCondition((bind) => `${write(bind)} AND ${DAY} IN ${bind(days)}`)
    await changeHits(client, createChangeSource('delete', job), days, () => deleteHits(client, ofDays))
  }
  await endEarlierDeletions(client, job)
}

async function listDays(client: ClickHouseClient, { text, params }: Condition): Promise<number[]> {
  const rows = await client.select(`SELECT DISTINCT ${DAY} AS day FROM hits WHERE ${text} ORDER BY day`, {
    params,
  })
  return rows.map(([day]) => Number(day))
}

async function hasHits(client: ClickHouseClient, { text, params }: Condition): Promise<boolean> {
  const sql = `SELECT count() FROM (SELECT 1 FROM hits WHERE ${text} LIMIT 1)`
  const [[found] = []] = await client.select(sql, { params })
  return Number(found) > 0
}

const deleteHits = (client: ClickHouseClient, { text, params }: Condition): Promise<void> =>
  client.execute(`ALTER TABLE hits DELETE WHERE ${text} SETTINGS mutations_sync = 2`, {
    params,
    timeoutMs: DELETE_TIMEOUT_MS,
  })

/**
 * Erases every hit of these workspaces, and their rows of roll-ups. The roll-ups of other workspaces go on counting: no
 * day has a recorded change.
 */
export async function eraseWorkspaceHits(client: ClickHouseClient, workspaceIds: number[]): Promise<void> {
  if (workspaceIds.length === 0) return
  const condition = toCondition((bind) => `workspace_id IN ${bind(workspaceIds)}`)
  if (await hasHits(client, condition)) await deleteHits(client, condition)
  await eraseRolledWorkspaces(client, workspaceIds)
}

export const deleteImportedHits = (
  client: ClickHouseClient,
  { workspaceId, importId }: ImportedHits,
): Promise<void> =>
  deleteWhere(
    client,
    `import-${workspaceId}-${importId}`,
    (bind) => `workspace_id = ${bind(workspaceId)} AND import_id = ${bind(importId)}`,
  )

const RETENTION = 'retention'

/** Deletes the hits recorded before this moment: whole months at once, and the rest of one month by a mutation. */
export async function deleteHitsBefore(client: ClickHouseClient, before: number): Promise<void> {
  // The table itself says which months it has. A user may lack the right to read the tables of `system`.
  const partitions = await client.select(
    'SELECT _partition_id FROM hits GROUP BY _partition_id HAVING toUInt32(_partition_id) < {p1:Int64}',
    { params: [toPartition(before)] },
  )
  for (const [partition] of partitions) await dropMonth(client, Number(partition))
  await deleteWhere(client, RETENTION, (bind) => `recorded_at < ${bind(before)}`)
}

/** All days of the month lose their roll-ups: other nodes may load hits of any of them meanwhile. */
async function dropMonth(client: ClickHouseClient, month: number): Promise<void> {
  const first = toFirstDay(month)
  const days = Array.from({ length: toNextMonth(first) - first }, (_, index) => first + index)
  await changeHits(client, createChangeSource('delete', RETENTION), days, () =>
    client.execute(
      `ALTER TABLE hits DROP PARTITION ID '${month}' SETTINGS max_partition_size_to_drop = 0, alter_sync = 2`,
      { timeoutMs: DELETE_TIMEOUT_MS },
    ),
  )
}
