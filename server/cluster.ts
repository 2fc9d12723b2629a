// Wires features/cluster/ and announces this process as a node to the others on its database.

import { listSharedSettings } from './config/shared-settings.ts'
import type { Config } from './config.ts'
import { type ClusterNode, openClusterNode } from './features/cluster/cluster-node.ts'
import type { Spool } from './features/hits/spool/spool.ts'
import { isNewInstallation } from './features/hits/worker/client.ts'
import { log } from './lib/log.ts'
import type { Database } from './storage/database/open-database.ts'
import { VERSION } from './version.ts'

interface ClusterNeeds {
  db: Database
  spool: Spool
  now: () => number
  getShippedUntil: () => number
  endAtOnce?: (sentence: string) => void
}

/** @throws a sentence for the operator, when this server must not run beside another one */
export async function openCluster(config: Config, needs: ClusterNeeds): Promise<ClusterNode> {
  const { db, spool, now, getShippedUntil, endAtOnce } = needs
  const isEmpty = isNewInstallation({ dataDir: config.dataDir, spool })
  return openClusterNode({
    db,
    now,
    node: spool.node,
    dir: spool.dir,
    isEmpty,
    version: VERSION,
    hitStore: config.clickHouseUrls ? 'clickhouse' : 'duckdb',
    settings: listSharedSettings(config),
    secret: config.secret,
    getShippedUntil,
    onReplaced: endAtOnce ?? ((sentence) => log.error('node_replaced', { sentence })),
  })
}
