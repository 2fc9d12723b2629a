// Checks that the answering replica has every hit that other replicas have stored.

import type { ClickHouseClient } from './client.ts'

type Reader = Pick<ClickHouseClient, 'select'>

/**
 * @returns true if other servers store the same hits, and ClickHouse can list those that this server lacks; false in its cloud
 * (`Shared…`). The engine of the database shows it too, because a table can be missing for a moment.
 */
export async function isReplicated(client: Reader): Promise<boolean> {
  const rows = await client.select(
    `SELECT engine FROM system.databases WHERE name = currentDatabase()
     UNION ALL SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = 'hits'`,
  )
  const engines = rows.map(([engine]) => String(engine))
  const has = (kind: string) => engines.some((engine) => engine.startsWith(kind))
  return has('Replicated') && !has('Shared')
}

/**
 * Call it before a count, which would miss hits that this replica lacks.
 * @throws when it lacks some. While other servers store hits continuously, it has all of them only at moments
 */
export async function requireCaughtUp(client: Reader): Promise<void> {
  if (!(await isReplicated(client))) return
  // `log_max_index` is the number of the last entry of a table's log, and `log_pointer` that of the next entry for this
  // replica. The log of hits is never empty, because a column was added (https://github.com/ClickHouse/ClickHouse,
  // StorageReplicatedMergeTree::getStatus, ReplicatedMergeTreeQueue::pullLogsToQueue).
  const behind = await client.select(
    `SELECT table FROM system.replicas WHERE database = currentDatabase() AND table = 'hits'
       AND (inserts_in_queue > 0 OR log_pointer <= log_max_index)`,
  )
  if (behind.length > 0) throw new Error('The replica of ClickHouse has not caught up')
}
