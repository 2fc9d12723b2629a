// Deletes hits in ClickHouse. A mutation rewrites the parts that have them; a lightweight delete would only mark them.

import { createBinder, type ValueBinder } from '../../filter-sql.ts'
import type { ImportedHits } from '../hit-engine.ts'
import type { ClickHouseClient } from './client.ts'
import { clickHouseDialect } from './dialect.ts'

/** A mutation of a large table rewrites many gigabytes. ClickHouse continues it after the client has disconnected. */
const DELETE_TIMEOUT_MS = 15 * 60_000

/**
 * Deletes the hits of a condition, on every replica. Their bytes stay in inactive parts for some minutes
 * (`old_parts_lifetime`, by default 8).
 */
export async function deleteWhere(
  client: ClickHouseClient,
  write: (bind: ValueBinder) => string,
): Promise<void> {
  const { params, bind } = createBinder(clickHouseDialect)
  const text = write(bind)
  // A mutation without hits would only make the table's list of mutations longer.
  const sql = `SELECT count() FROM (SELECT 1 FROM hits WHERE ${text} LIMIT 1)`
  const [[found] = []] = await client.select(sql, { params })
  if (Number(found) === 0) return
  await client.execute(`ALTER TABLE hits DELETE WHERE ${text} SETTINGS mutations_sync = 2`, {
    params,
    timeoutMs: DELETE_TIMEOUT_MS,
  })
}

export async function eraseWorkspaceHits(client: ClickHouseClient, workspaceIds: number[]): Promise<void> {
  if (workspaceIds.length > 0) await deleteWhere(client, (bind) => `workspace_id IN ${bind(workspaceIds)}`)
}

export const deleteImportedHits = (
  client: ClickHouseClient,
  { workspaceId, importId }: ImportedHits,
): Promise<void> =>
  deleteWhere(client, (bind) => `workspace_id = ${bind(workspaceId)} AND import_id = ${bind(importId)}`)

/** Deletes the hits recorded before this moment: whole months at once, and the rest of one month by a mutation. */
export async function deleteHitsBefore(client: ClickHouseClient, before: number): Promise<void> {
  // Reads the months from the table itself, because a user may lack the right to read the tables of `system`.
  const partitions = await client.select(
    'SELECT _partition_id FROM hits GROUP BY _partition_id HAVING toUInt32(_partition_id) < {p1:Int64}',
    { params: [toPartition(before)] },
  )
  for (const [partition] of partitions)
    await client.execute(
      `ALTER TABLE hits DROP PARTITION ID '${Number(partition)}' SETTINGS max_partition_size_to_drop = 0, alter_sync = 2`,
      { timeoutMs: DELETE_TIMEOUT_MS },
    )
  await deleteWhere(client, (bind) => `recorded_at < ${bind(before)}`)
}

/** The partition of a moment's UTC month. Its name is a number, such as 202605. */
function toPartition(at: number): number {
  const date = new Date(at)
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
}
