// Deletes hits in ClickHouse. A mutation rewrites the parts that have them: a lightweight delete would only mark them.

import type { SqlValue, ValueBinder } from '../../filter-sql.ts'
import type { ImportedHits } from '../hit-engine.ts'
import type { ClickHouseClient } from './client.ts'
import { toPlaceholder } from './parameters.ts'

/** A mutation of a large table rewrites many gigabytes. ClickHouse goes on with it when nobody waits any more. */
const DELETE_TIMEOUT_MS = 15 * 60_000

export const createBinder =
  (params: SqlValue[]): ValueBinder =>
  (value) =>
    toPlaceholder(params.push(value), value)

/**
 * Deletes the hits of a condition, on every replica. Their bytes stay in inactive parts for some minutes
 * (`old_parts_lifetime`, by default 8).
 */
export async function deleteWhere(
  client: ClickHouseClient,
  toCondition: (bind: ValueBinder) => string,
): Promise<void> {
  const params: SqlValue[] = []
  const condition = toCondition(createBinder(params))
  const [[found] = []] = await client.select(
    `SELECT count() FROM (SELECT 1 FROM hits WHERE ${condition} LIMIT 1)`,
    {
      params,
    },
  )
  if (Number(found) === 0) return
  await client.execute(`ALTER TABLE hits DELETE WHERE ${condition} SETTINGS mutations_sync = 2`, {
    params,
    timeoutMs: DELETE_TIMEOUT_MS,
  })
}

/** Erases every hit of these workspaces. */
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
  const date = new Date(before)
  const month = date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
  // The table itself says which months it has. Of the tables of `system`, a user may be allowed to read only a few.
  const partitions = await client.select(
    'SELECT _partition_id FROM hits GROUP BY _partition_id HAVING toUInt32(_partition_id) < {p1:Int64}',
    { params: [month] },
  )
  for (const [partition] of partitions)
    await client.execute(
      `ALTER TABLE hits DROP PARTITION ID '${Number(partition)}' SETTINGS max_partition_size_to_drop = 0, alter_sync = 2`,
      { timeoutMs: DELETE_TIMEOUT_MS },
    )
  await deleteWhere(client, (bind) => `recorded_at < ${bind(before)}`)
}
