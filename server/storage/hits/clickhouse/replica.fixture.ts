// A ClickHouse that says of itself what a replica says: the library that the tests run has no replicas.

import type { ClickHouseClient } from './client.ts'

/**
 * A client of a replicated database. As in ClickHouse, a table that nobody has written to has the numbers 0 and 0.
 * @param isBehind whether the replica lacks what another one has stored in a table
 */
export function createReplicaClient(
  client: ClickHouseClient,
  isBehind: (table: string) => boolean = () => false,
): ClickHouseClient {
  const written = new Set<string>()
  async function isWritten(table: string) {
    if (written.has(table)) return true
    const [[count] = []] = await client.select(`SELECT count() FROM ${table}`)
    // ADD COLUMN of the second layout is in the log of hits.
    if (Number(count) > 0 || table === 'hits') written.add(table)
    return written.has(table)
  }
  const select: ClickHouseClient['select'] = async (sql, call) => {
    if (sql.includes('FROM system.databases')) return [['Replicated'], ['ReplicatedMergeTree']]
    if (!sql.includes('FROM system.replicas')) return client.select(sql, call)
    const rows: unknown[][] = []
    for (const table of (call?.params?.[0] ?? []) as string[])
      if (!(await isWritten(table))) rows.push([table, 1])
      else if (isBehind(table)) rows.push([table, 0])
    return rows
  }
  const { execute } = client
  return { ...client, select, atOneServer: (work) => work({ select, execute }) }
}
