// Whether the replica that answers has everything that other replicas have stored.

import type { ClickHouseClient } from './client.ts'
import { toPlaceholder } from './parameters.ts'

export class ReplicaBehindError extends Error {
  constructor() {
    super('The replica of ClickHouse has not caught up')
    this.name = 'ReplicaBehindError'
  }
}

/** Whether other servers store the same hits. */
export async function isReplicated(client: Pick<ClickHouseClient, 'select'>): Promise<boolean> {
  const sql = `SELECT count() FROM system.tables
    WHERE database = currentDatabase() AND name = 'hits' AND engine LIKE 'Replicated%'`
  const [[count] = []] = await client.select(sql)
  return Number(count) > 0
}

const POLL_MS = 100

/**
 * Waits until this replica has what others have stored in these tables: a count would miss it.
 * @throws `ReplicaBehindError` after `waitMs`. While others store all the time, it has everything at moments only
 */
export async function requireCaughtUp(
  client: Pick<ClickHouseClient, 'select'>,
  tables: readonly string[],
  waitMs = 0,
): Promise<void> {
  if (!(await isReplicated(client))) return
  const deadline = performance.now() + waitMs
  while (await isBehind(client, tables)) {
    if (performance.now() >= deadline) throw new ReplicaBehindError()
    await Bun.sleep(POLL_MS)
  }
}

/** Whether a replica lacks what another one has stored in these tables. */
export async function isBehind(
  client: Pick<ClickHouseClient, 'select'>,
  tables: readonly string[],
): Promise<boolean> {
  const [[waiting] = []] = await client.select(
    `SELECT count() FROM system.replicas WHERE database = currentDatabase() AND table IN ${toPlaceholder(1, [...tables])}
       AND (inserts_in_queue > 0 OR log_pointer <= log_max_index)`,
    { params: [[...tables]] },
  )
  return Number(waiting) > 0
}
