// Deletes rows of roll-ups: those of erased workspaces, and of roll-ups that count no more.

import type { SqlValue } from '../../../filter-sql.ts'
import type { ClickHouseClient } from '../client.ts'
import { toPlaceholder } from '../parameters.ts'
import { waitForSums } from './roll-steps.ts'
import { DAY_SUM_TABLES, MONTH_SUM_TABLES, SUM_TABLES } from './roll-tables.ts'

type DeleteClient = Pick<ClickHouseClient, 'select' | 'execute'>

const DELETE_TIMEOUT_MS = 15 * 60_000

/**
 * Erases the rows of these workspaces. Their hits are gone, but a roll-up that was summing them a moment ago may still
 * store its rows: so this waits for it, and for months that were summing days.
 */
export async function eraseRolledWorkspaces(client: DeleteClient, workspaceIds: number[]): Promise<void> {
  const condition = `workspace_id IN ${toPlaceholder(1, workspaceIds)}`
  await waitForSums(client)
  await countErased(client, DAY_SUM_TABLES, condition, workspaceIds)
  for (const table of DAY_SUM_TABLES) await deleteRows(client, table, condition, [workspaceIds])
  await waitForSums(client)
  await countErased(client, MONTH_SUM_TABLES, condition, workspaceIds)
  for (const table of MONTH_SUM_TABLES) await deleteRows(client, table, condition, [workspaceIds])
}

/**
 * A mark says how many rows its roll-up has. The erased ones are no damage. Each workspace is noted by itself: several
 * nodes may erase it at once, and an erasure that was killed is repeated, so the largest number of a workspace is right.
 */
async function countErased(
  client: DeleteClient,
  tables: readonly string[],
  condition: string,
  workspaceIds: number[],
): Promise<void> {
  const rows = tables.map((table) => `SELECT roll, workspace_id FROM ${table} WHERE ${condition}`)
  await client.execute(
    `INSERT INTO roll_steps (roll, step, workspace_id, rows, made_at) SETTINGS async_insert = 0
     SELECT roll, 'erased', workspace_id, count(), now64(3) FROM (${rows.join(' UNION ALL ')}) GROUP BY roll, workspace_id`,
    { params: [workspaceIds] },
  )
}

/** Deletes the rows of roll-ups that no question reads any more. */
export async function deleteRolls(client: DeleteClient, rolls: number[]): Promise<void> {
  for (const table of SUM_TABLES)
    await deleteRows(client, table, `roll IN ${toPlaceholder(1, rolls)}`, [rolls])
}

async function deleteRows(
  client: DeleteClient,
  table: string,
  condition: string,
  params: SqlValue[],
): Promise<void> {
  const found = `SELECT count() FROM (SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1)`
  const [[count] = []] = await client.select(found, { params })
  if (Number(count) === 0) return
  await client.execute(`ALTER TABLE ${table} DELETE WHERE ${condition} SETTINGS mutations_sync = 2`, {
    params,
    timeoutMs: DELETE_TIMEOUT_MS,
  })
}
