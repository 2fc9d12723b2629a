// This process as a node of the cluster: its heartbeat, its knowledge of the other nodes, and the jobs that one node
// runs for all.

import type { Database } from '../../storage/database/open-database.ts'
import { type HeartbeatNeeds, openHeartbeat } from './heartbeat.ts'
import { readInstanceName } from './instance.ts'
import { type JoinNeeds, joinCluster } from './join-cluster.ts'
import { createLeases, createLocalLeases, type LeaseRunner } from './leases.ts'

export interface ClusterNode extends Pick<LeaseRunner, 'runAlone'> {
  /** The random name of the installation, which its hit store keeps too. */
  instance: string
  /** Other nodes that were seen in the last minute. While the database is away: as it was before. */
  countOthers(): number
  /**
   * Every hit that other nodes recorded before this moment is in the hit store's answers; epoch milliseconds. A node that
   * is silent holds it back for a minute. A node that has just joined has no older hits, so the value is never later
   * than the last look at the others. `Infinity` where there can be no others: on SQLite, and with hits in DuckDB.
   */
  getOthersShippedUntil(): number
  /** Call it when the hit worker is closed. Later the database gets no heartbeats, and the others do not wait for this node. */
  close(): Promise<void>
}

export interface ClusterNodeNeeds extends JoinNeeds, Omit<HeartbeatNeeds, 'facts'> {
  db: Database
}

/**
 * Joins the other nodes on this database. Open it before the process records a hit.
 * @throws a sentence for the operator, when this process and another one would give wrong answers
 */
export async function openClusterNode(needs: ClusterNodeNeeds): Promise<ClusterNode> {
  const { db, node } = needs
  const instance = await readInstanceName(db)
  if (db.engine === 'sqlite') return openLonelyNode(instance)
  const facts = await joinCluster(needs)
  const heartbeat = openHeartbeat({ ...needs, facts })
  const leases = createLeases({ db, node })
  return {
    instance,
    runAlone: leases.runAlone,
    countOthers: heartbeat.countOthers,
    getOthersShippedUntil: () =>
      needs.hitStore === 'duckdb' ? Number.POSITIVE_INFINITY : heartbeat.getOthersShippedUntil(),
    async close() {
      await Promise.all([leases.close(), heartbeat.close()])
    },
  }
}

/** An SQLite file has one server, so nothing is written for others to see. */
function openLonelyNode(instance: string): ClusterNode {
  return {
    instance,
    runAlone: createLocalLeases().runAlone,
    countOthers: () => 0,
    getOthersShippedUntil: () => Number.POSITIVE_INFINITY,
    close: async () => {},
  }
}
