// Opens the stores of a server: the database, the spool, the cluster node, and the hit worker.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { listSharedSettings } from '../config/shared-settings.ts'
import { VERSION } from '../config/version.ts'
import { ensureClickMark } from '../features/analytics/feed/click-mark.ts'
import { type ClusterNode, openClusterNode } from '../features/cluster/cluster-node.ts'
import { readInstanceName } from '../features/cluster/instance.ts'
import { skipPastErasures } from '../features/hits/erase-deleted-workspaces.ts'
import { openMissCounter } from '../features/hits/misses/miss-counter.ts'
import { toRetentionStart } from '../features/hits/retention.ts'
import type { RollUpPace } from '../features/hits/rollups/roll-up-loop.ts'
import { openSpool, type Spool } from '../features/hits/spool/spool.ts'
import { createSpoolGuard } from '../features/hits/spool/spool-guard.ts'
import {
  type HitWorkerClientOptions,
  isNewInstallation,
  openHitWorkerClient,
} from '../features/hits/worker/client.ts'
import { countClicks, getCountedBatch, hasCountedBatches } from '../features/links/counting/count-clicks.ts'
import type { Site } from '../features/links/link.ts'
import { listDomainNames } from '../features/links/names/domain-directory.ts'
import { listOwnHosts } from '../features/links/names/own-hosts.ts'
import { ensureSalts } from '../features/visitors/ensure-salts.ts'
import { createDailySalts, type DailySalt } from '../features/visitors/salts.ts'
import { log } from '../lib/log.ts'
import { haveHitsMoved } from '../storage/database/copy/move-log.ts'
import type { Database } from '../storage/database/open-database.ts'
import { openDiskSpace } from '../storage/disk-space.ts'
import { findClickHouseProblem } from '../storage/hits/clickhouse/find-problem.ts'
import { toHitFilePath } from '../storage/hits/duckdb/hit-file.ts'
import { type Lock, lockDataDir } from '../storage/lock.ts'
import { markRunning } from '../storage/running-mark.ts'
import { openRows } from './open-rows.ts'

export interface StoreOptions {
  now?: () => number
  /** Monotonic milliseconds for limits. */
  clock?: () => number
  /** Called when another server runs with the id of this one: hits of both would get the same ids. */
  endAtOnce?: (sentence: string) => void
  /** How often SQLite's log is emptied. */
  emptyLogEveryMs?: number
  /** How fast closed days are rolled up. */
  rollUpPace?: RollUpPace
  /** How the hit worker is started: by default as a process of its own. */
  startWorker?: HitWorkerClientOptions['startWorker']
}

export type Stores = Awaited<ReturnType<typeof openStores>>

/**
 * Opens the database, the spool that redirects record into, the cluster that this server joins with it, and the hit
 * worker that answers analytics.
 */
export async function openStores(config: Config, site: Site, options: StoreOptions) {
  const { now = Date.now, clock } = options
  const directory = claimDataDir(config.dataDir)
  const db = await openRows(config, options).catch((error) => {
    directory.release()
    throw error
  })
  const disk = await openDiskSpace({ dir: config.dataDir, reserveBytes: config.diskReserveBytes })
  const ownSpool = await openSpool({ dir: join(config.dataDir, 'spool'), now })
  const spool = createSpoolGuard({ spool: ownSpool, disk, clock })
  let getShippedUntil = () => 0
  const clusterNeeds = {
    db,
    spool,
    now,
    getShippedUntil: () => getShippedUntil(),
    endAtOnce: options.endAtOnce,
  }
  const startCluster = async () => {
    const hitStoreWarning = await findHitStoreWarning(config, db)
    return { hitStoreWarning, cluster: await openCluster(config, clusterNeeds) }
  }
  const { hitStoreWarning, cluster } = await startCluster().catch(async (error) => {
    await spool.close()
    disk.close()
    await db.close()
    directory.release()
    throw error
  })
  if (isNewInstallation({ dataDir: config.dataDir, spool }))
    await skipPastErasures({ db, now, node: spool.node })
  const salts = createDailySalts()
  const currentSalts = await ensureSalts({ db, now: now() })
  salts.set(currentSalts)
  const hitWorker = await openHitWorker(config, {
    ...options,
    db,
    spool,
    cluster,
    site,
    now,
    salts: currentSalts,
  })
  getShippedUntil = hitWorker.countedUntil
  const misses = await openMissCounter({ db, getSalt: salts.get, disk, now })
  return {
    db,
    disk,
    spool,
    misses,
    cluster,
    hitWorker,
    hitStoreWarning,
    getSalt: salts.get,
    setSalts(newSalts: typeof currentSalts) {
      salts.set(newSalts)
      hitWorker.setSalts(newSalts)
    },
    /** Closes in order: the hit worker, the spool that it reads, the counts of misses, the cluster, the database. */
    async close() {
      await hitWorker.close()
      await spool.close()
      disk.close()
      await misses.close()
      await cluster.close()
      await db.close()
      directory.release()
    },
  }
}

/** @throws a sentence for the operator: another server runs there, or it is a damaged copy */
function claimDataDir(dataDir: string): Lock {
  const lock = lockDataDir(dataDir)
  try {
    const removeMark = markRunning(dataDir)
    return {
      release() {
        removeMark()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

interface HitWorkerNeeds extends Pick<StoreOptions, 'rollUpPace' | 'startWorker'> {
  db: Database
  spool: Spool
  cluster: ClusterNode
  site: Site
  salts: DailySalt[]
  now: () => number
}

async function openHitWorker(
  config: Config,
  { db, spool, cluster, site, salts, now, rollUpPace, startWorker }: HitWorkerNeeds,
) {
  return openHitWorkerClient({
    dataDir: config.dataDir,
    spool,
    salts,
    clickHouseUrls: config.clickHouseUrls,
    tracing: config.tracing,
    version: VERSION,
    instance: cluster.instance,
    getOthersShippedUntil: cluster.getOthersShippedUntil,
    ownHosts: listOwnHosts(site, await listDomainNames(db)),
    geoPath: config.geoipDb,
    countedUpTo: await getCountedBatch(db, spool.node),
    toldUpTo: (await ensureClickMark(db, spool.node)).batch,
    since: toRetentionStart(now(), config.hitRetentionDays),
    storeCounts: (batch) => countClicks(db, batch),
    now,
    rollUpPace,
    startWorker,
  })
}

/**
 * An outage stops the first start of an installation only: where no hit was ever counted, the address is more likely to
 * be wrong than the server to be away.
 * @returns a warning for the operator, when ClickHouse is away and hits will wait for it, or when days cannot be rolled up
 * @throws a sentence for the operator, when ClickHouse cannot be used as it is set up
 */
async function findHitStoreWarning(
  { clickHouseUrls, dataDir }: Pick<Config, 'clickHouseUrls' | 'dataDir'>,
  db: Database,
): Promise<string | undefined> {
  if (!clickHouseUrls) return undefined
  await requireMovedHistory(toHitFilePath(dataDir), db)
  const problem = await findClickHouseProblem(clickHouseUrls, await readInstanceName(db))
  if (!problem) return undefined
  if (!problem.isTemporary || !(await hasCountedBatches(db))) throw new Error(problem.sentence)
  return `${problem.sentence} Until then, redirects and forms work, analytics answer 503, and clicks wait on the disk.`
}

/** After a move the file stays, and the rows say that it has moved. */
async function requireMovedHistory(path: string, db: Database) {
  if (!existsSync(path) || (await haveHitsMoved(db))) return
  throw new Error(
    `The clicks in ${path} are not in ClickHouse, so analytics would lack them. Run "npx towpath move" first (docs/move.md), ` +
      'without CLICKHOUSE_URL in the environment, or delete the file to go on without its clicks.',
  )
}

interface ClusterNeeds {
  db: Database
  spool: Spool
  now: () => number
  getShippedUntil: () => number
  endAtOnce?: (sentence: string) => void
}

/** @throws a sentence for the operator, when this server must not run beside another one */
async function openCluster(config: Config, needs: ClusterNeeds): Promise<ClusterNode> {
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
