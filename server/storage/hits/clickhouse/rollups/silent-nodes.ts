// Finds nodes that load hits and record no changes: those of the previous release, while a cluster is upgraded.

import type { ClickHouseStatements } from '../client.ts'

/**
 * How many batches all nodes have loaded without recording changes. The number only grows, so what was true of hits
 * while it was the same is true as long as it is the same.
 */
export const SILENT_BATCHES = `(SELECT toInt64(sum(if(since > 0, since - 1, loaded)))
  FROM (SELECT node, max(batch) AS loaded FROM hit_marks GROUP BY node) AS marks
  LEFT JOIN (SELECT node, min(batch) AS since FROM roll_loaders GROUP BY node) AS loaders USING (node))`

export async function readSilentBatches(select: ClickHouseStatements['select']): Promise<number> {
  const [[count] = []] = await select(`SELECT ${SILENT_BATCHES}`)
  return Number(count)
}

/**
 * Says once for each node that this release loads its batches, from the next one on. It asks each time whether the node has
 * said so: the table may have been lost and made anew.
 */
export const announceLoader = (client: ClickHouseStatements, node: string, next: number): Promise<void> =>
  client.execute(
    `INSERT INTO roll_loaders SETTINGS async_insert = 0
     SELECT {p1:String}, {p2:Int64} WHERE {p1:String} NOT IN (SELECT node FROM roll_loaders)`,
    { params: [node, next] },
  )
