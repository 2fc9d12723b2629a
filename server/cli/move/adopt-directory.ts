// Runs `towpath adopt`: ships the hits in the data directory of a node that will not start again. This process becomes
// that node for a while, under the same id, so everything counts once as usual.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { createClickAnnouncer } from '../../features/analytics/feed/announce-clicks.ts'
import { hasPendingImports } from '../../features/hits/batches/hit-import.ts'
import { eraseDeletedWorkspaces } from '../../features/hits/erase-deleted-workspaces.ts'
import { readNodeId } from '../../features/hits/spool/claim-directory.ts'
import { getCountedBatch } from '../../features/links/counting/count-clicks.ts'
import { eraseUndoneHistories } from '../../features/transfer/history/erase-imported-clicks.ts'
import { createSite } from '../../start/site.ts'
import { openStores, type Stores } from '../../start/stores.ts'
import type { Database } from '../../storage/database/open-database.ts'
import { tryToLockDataDir } from '../../storage/lock.ts'
import { CommandError } from '../command.ts'
import type { ProgressBar } from '../progress-bar.ts'

export interface AdoptNeeds {
  db: Database
  config: Config
  progress: ProgressBar
  /** Ends the command. A later run continues. */
  signal: AbortSignal
  now: () => number
}

/** A store that is away for longer ends the command. */
const STUCK_AFTER_MS = 60_000
const POLL_MS = 200

/**
 * @param isForeign the operator says that the directory belongs here, although the rows do not know its node
 * @returns the report for the operator
 */
export async function adoptDirectory(needs: AdoptNeeds, dir: string, isForeign: boolean): Promise<string> {
  const { db, config, progress, now } = needs
  const dataDir = resolve(dir)
  const node = await requireDeadNode(config, dataDir)
  if (!isForeign) await requireKnownNode(db, node)
  const before = await getCountedBatch(db, node)
  const stores = await openStores({ ...config, dataDir }, createSite(config), { now })
  try {
    await waitUntilShipped(needs, stores, dataDir)
    await createClickAnnouncer({ db, hits: stores.hitWorker, node, origin: config.origin, now }).run()
    // Workspaces may have been deleted since the node has ended.
    const { eraseHits } = stores.hitWorker
    await eraseDeletedWorkspaces({ db, node, now, eraseHits })
    // Imports may have been undone as well.
    await eraseUndoneHistories({ db, node, now, dataDir, ...stores.hitWorker })
  } finally {
    progress.end()
    await stores.close()
  }
  await requireLeft(db, node)
  const batches = (await getCountedBatch(db, node)) - before
  return [
    batches === 0
      ? `The node ${node} has no clicks left to count.`
      : `Counted the remaining clicks of the node ${node}: ${batches} ${batches === 1 ? 'batch' : 'batches'} of hits.`,
    `${dataDir} has no uncounted clicks. You can delete it.`,
  ].join('\n')
}

/** @returns the id of the node */
async function requireDeadNode(config: Config, dataDir: string): Promise<string> {
  if (config.databaseUrl === undefined || config.clickHouseUrls === undefined)
    throw new CommandError(
      'A node can be adopted where all nodes share their stores. Set DATABASE_URL and CLICKHOUSE_URL as for the servers.',
    )
  if (dataDir === resolve(config.dataDir))
    throw new CommandError(
      `${dataDir} is the DATA_DIR of this command. Set DATA_DIR to that of a server that runs on.`,
    )
  const node = existsSync(dataDir) ? await readNodeId(join(dataDir, 'spool')) : undefined
  if (node === undefined)
    throw new CommandError(`${dataDir} is not the data directory of a server: it has no spool.`)
  const lock = tryToLockDataDir(dataDir)
  if (!lock)
    throw new CommandError(`A server runs on ${dataDir}. Only the directory of a dead node can be adopted.`)
  lock.release()
  return node
}

/** The ids of links and workspaces in its hits would mean other ones here. */
async function requireKnownNode(db: Database, node: string): Promise<void> {
  const row = await db.read.selectFrom('nodes').select('node').where('node', '=', node).executeTakeFirst()
  if (row || (await getCountedBatch(db, node)) > 0) return
  throw new CommandError(
    `The node ${node} has never run on this database. If the directory belongs to this installation anyway, add --yes.`,
  )
}

async function waitUntilShipped(
  { progress, signal, now }: AdoptNeeds,
  { hitWorker }: Stores,
  dataDir: string,
): Promise<void> {
  let last = ''
  let movedAt = performance.now()
  for (;;) {
    signal.throwIfAborted()
    const at = now()
    await waitAtMost(hitWorker.drain(), STUCK_AFTER_MS)
    const { engineUp, batch, mark, counted, position } = hitWorker.state()
    const isShipped = engineUp && mark >= batch && counted >= batch && hitWorker.countedUntil() >= at
    if (isShipped && !hasPendingImports(dataDir)) return
    progress.at(batch === 0 ? 0 : Math.min(mark, counted) / batch, 'hits of the node')
    const state = JSON.stringify([batch, mark, counted, position])
    if (state !== last) movedAt = performance.now()
    last = state
    if (performance.now() - movedAt > STUCK_AFTER_MS)
      throw new CommandError(
        `The hits of the node cannot be ${mark < batch ? 'stored in ClickHouse' : 'counted in PostgreSQL'} now. ` +
          'Counted clicks stay counted. Run the same command again when the store is back.',
      )
    await Bun.sleep(POLL_MS)
  }
}

async function waitAtMost(work: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([work, late.promise])
  // The command ends when nothing is left to do.
  clearTimeout(timer)
}

/** Other nodes wait for the hits of a node that has not left. */
async function requireLeft(db: Database, node: string): Promise<void> {
  const row = await db.read.selectFrom('nodes').select('left_at').where('node', '=', node).executeTakeFirst()
  if (row?.left_at != null) return
  throw new CommandError('The end of the node could not be noted. Run the same command again.')
}
