// Checks that the answering replica has everything that other replicas have stored.

import type { ClickHouseClient } from './client.ts'
import { toPlaceholder } from './parameters.ts'
import { toFirstRow } from './rollups/roll-tables.ts'

export class ReplicaBehindError extends Error {
  constructor() {
    super('The replica of ClickHouse has not caught up')
    this.name = 'ReplicaBehindError'
  }
}

type Reader = Pick<ClickHouseClient, 'select'>

/** Whether other servers store the same hits, and whether ClickHouse says what this one lacks: not in its cloud (`Shared…`). */
type Replication = 'none' | 'replicated' | 'shared'

/** The engine of the database says so, too: a table can be missing for a moment. */
export async function readReplication(client: Reader): Promise<Replication> {
  const rows = await client.select(
    `SELECT engine FROM system.databases WHERE name = currentDatabase()
     UNION ALL SELECT engine FROM system.tables WHERE database = currentDatabase() AND name = 'hits'`,
  )
  const has = (kind: string) => rows.some(([engine]) => String(engine).startsWith(kind))
  if (has('Shared')) return 'shared'
  return has('Replicated') ? 'replicated' : 'none'
}

const POLL_MS = 100

/**
 * Waits until this replica has what others have stored in these tables: a count would miss it.
 * @throws `ReplicaBehindError` after `waitMs`. While others store all the time, it has everything at moments only
 */
export async function requireCaughtUp(
  client: Pick<ClickHouseClient, 'select' | 'execute'>,
  tables: readonly string[],
  waitMs = 0,
): Promise<void> {
  if ((await readReplication(client)) !== 'replicated') return
  const deadline = performance.now() + waitMs
  let behind = await listBehind(client, tables)
  await writeFirstRows(client, behind)
  for (; behind.length > 0; behind = await listBehind(client, tables)) {
    if (performance.now() >= deadline) throw new ReplicaBehindError()
    await Bun.sleep(POLL_MS)
  }
}

/** Whether a replica lacks what another one has stored in these tables. */
export const isBehind = async (client: Reader, tables: readonly string[]): Promise<boolean> =>
  (await listBehind(client, tables)).length > 0

interface TableBehind {
  table: string
  /** Nobody has ever stored anything in it, or this replica lacks the first thing. */
  isUnwritten: boolean
}

/**
 * `log_max_index` is the number of the last entry of a table's log, and `log_pointer` that of the entry which this replica
 * takes next. Both are 0 without entries, and also when there is one that this replica lacks
 * (https://github.com/ClickHouse/ClickHouse, StorageReplicatedMergeTree::getStatus, ReplicatedMergeTreeQueue::pullLogsToQueue).
 */
async function listBehind(client: Reader, tables: readonly string[]): Promise<TableBehind[]> {
  const rows = await client.select(
    `SELECT table, log_max_index = 0 AND log_pointer = 0 FROM system.replicas
     WHERE database = currentDatabase() AND table IN ${toPlaceholder(1, [...tables])}
       AND (inserts_in_queue > 0 OR log_pointer <= log_max_index)`,
    { params: [[...tables]] },
  )
  return rows.map(([table, isUnwritten]) => ({
    table: String(table),
    isUnwritten: Number(isUnwritten) === 1,
  }))
}

/** Gives each table whose log may be empty an entry: from then on its numbers say whether this replica has everything. */
async function writeFirstRows(
  client: Pick<ClickHouseClient, 'execute'>,
  behind: readonly TableBehind[],
): Promise<void> {
  for (const { table, isUnwritten } of behind) {
    const row = isUnwritten ? toFirstRow(table) : undefined
    if (row !== undefined) await client.execute(`INSERT INTO ${table} ${row}`)
  }
}
