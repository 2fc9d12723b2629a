// The server's side of the ship worker: questions in, counts out.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { unavailable } from '../../../lib/failure.ts'
import { getLogLevel } from '../../../lib/log.ts'
import type {
  ExportedFile,
  HitAnswer,
  HitExport,
  HitQuery,
  HitReader,
  LastClick,
  LastClicksQuery,
} from '../../../storage/hits/hit-engine.ts'
import type { DailySalt } from '../../visitors/visitor-id.ts'
import { hasPendingImports } from '../batches/hit-import.ts'
import { type BatchRetention, DEFAULT_BATCH_RETENTION } from '../batches/retention.ts'
import type { Spool } from '../spool/spool.ts'
import { WAITING_HITS, WRITE_OFFSET, WRITE_SEGMENT } from '../spool/write-position.ts'
import { type BatchClickCounts, createClickCountReceiver } from './click-count-receiver.ts'
import type { MessageFromWorker, WorkerProgress, WorkerSettings } from './protocol.ts'
import { createRpcClient } from './rpc-client.ts'
import { openWorkerSupervisor } from './worker-supervisor.ts'

const ASK_TIMEOUT_MS = 30_000
const SHIP_EVERY_MS = 500
const PRUNE_EVERY_MS = 60 * 60 * 1000
/** To start again takes half a second of one core: not for the pauses between a small site's visitors. */
const IDLE_MS = 30_000

export interface HitWorkerClient extends HitReader {
  /** @throws `unavailable` when the engine is away or does not answer in 30 s. */
  ask(query: HitQuery): Promise<HitAnswer[]>
  /** @throws `unavailable` when the engine or room on the disk is away. */
  export(request: HitExport, signal: AbortSignal): Promise<ExportedFile>
  /**
   * Answers with every hit that was recorded until now.
   * @throws `unavailable` when the engine is away, or has not caught up or not answered in time.
   */
  findLastClicks(query: LastClicksQuery, timeoutMs?: number): Promise<(LastClick | null)[]>
  /** Removes hits recorded before this moment, wherever they are kept, and takes no such hits any more. */
  pruneHits(since: number): Promise<void>
  /** Removes all hits of these workspaces, wherever they are kept. */
  eraseHits(workspaceIds: number[]): Promise<void>
  setSalts(salts: DailySalt[]): void
  setOwnHosts(hosts: string[]): void
  /** Ships what is recorded until now. Does not wait for an engine that is away or rows that cannot be written. */
  drain(): Promise<void>
  state(): WorkerProgress & { workerUp: boolean; restarts: number; counted: number }
  close(): Promise<void>
}

export interface HitWorkerClientOptions {
  dataDir: string
  spool: Spool
  salts: DailySalt[]
  /** Hosts of this instance's short links, lower case. */
  ownHosts: string[]
  geoPath?: string
  /** The mark of this node in the rows. */
  countedUpTo: number
  /** Stores counts; called in order, one at a time, and again until it succeeds. */
  storeCounts(counts: BatchClickCounts): Promise<void>
  now?: () => number
  shipEveryMs?: number
  /** About how many hits one batch takes. */
  maxHits?: number
  batchRetention?: BatchRetention
  pruneEveryMs?: number
  /** Hits recorded before this moment are past their retention; 0 keeps all. */
  since?: number
  /** How long the worker stays when there is nothing to do. */
  idleMs?: number
}

/** A new installation has no hits anywhere, and none in its first segment yet. */
const isNewInstallation = ({ dataDir, spool }: HitWorkerClientOptions) =>
  spool.writePosition[WRITE_SEGMENT] === 1 &&
  spool.stats().appended === 0 &&
  ['batches', 'hits.duckdb'].every((name) => !existsSync(join(dataDir, name)))

/**
 * Nobody has clicked or asked for a while, so nobody waits for this. The collector alone would keep what the last busy
 * hour took (15 of 155 MB after 200,000 redirects); compiled code goes as well, and comes again with the next busy hour.
 */
function releaseMemory() {
  Bun.gc(true)
  Bun.shrink()
}

export function openHitWorkerClient(options: HitWorkerClientOptions): HitWorkerClient {
  const { spool, now = Date.now, shipEveryMs = SHIP_EVERY_MS } = options
  const { writePosition } = spool
  let { salts, ownHosts, countedUpTo: counted, since = 0 } = options
  let lastId = 0
  const isNew = isNewInstallation(options)
  const spoolEnd = () => ({
    seq: writePosition[WRITE_SEGMENT] ?? 0,
    offset: writePosition[WRITE_OFFSET] ?? 0,
  })
  let progress: WorkerProgress = {
    engineUp: isNew,
    batch: 0,
    mark: 0,
    until: 0,
    position: isNew ? spoolEnd() : { seq: 0, offset: 0 },
    lost: { batches: 0, hits: 0 },
  }
  const drains = new Map<number, () => void>()
  const counts = createClickCountReceiver({
    node: spool.node,
    stored: counted,
    store: options.storeCounts,
    onStored(number) {
      counted = number
      worker.sendIfRunning({ type: 'stored', number })
    },
  })
  const calls = createRpcClient(() => worker)

  /** Every recorded hit is described, and in the answers. */
  const isEverythingShipped = () =>
    progress.position.seq === writePosition[WRITE_SEGMENT] &&
    progress.position.offset === writePosition[WRITE_OFFSET] &&
    writePosition[WAITING_HITS] === 0

  const settings = (): WorkerSettings => ({
    logLevel: getLogLevel(),
    dataDir: options.dataDir,
    spoolDir: spool.dir,
    node: spool.node,
    salts,
    ownHosts,
    geoPath: options.geoPath,
    countedUpTo: counted,
    shipEveryMs,
    maxHits: options.maxHits ?? 200_000,
    batchRetention: options.batchRetention ?? DEFAULT_BATCH_RETENTION,
    pruneEveryMs: options.pruneEveryMs ?? PRUNE_EVERY_MS,
    since,
    idleMs: options.idleMs ?? IDLE_MS,
  })

  function receive(message: MessageFromWorker) {
    if (message.type === 'counts') counts.add(message.number, message.counts)
    else if (message.type === 'answer') calls.answered(message.id, message.value)
    else if (message.type === 'refusal') calls.refused(message.id, message.message, message.unavailable)
    else if (message.type === 'progress') progress = message.progress
    else if (message.type === 'drained') drains.get(message.id)?.()
  }

  const worker = openWorkerSupervisor({
    settings,
    receive,
    isAwaited: () => calls.isWaiting() || drains.size > 0,
    isBehind: () => !isEverythingShipped() || hasPendingImports(options.dataDir),
    lookEveryMs: shipEveryMs,
    isNew,
    onStart() {
      calls.request()
      for (const id of drains.keys()) worker.sendOrWake({ type: 'drain', id })
    },
    onLost(error) {
      progress = { ...progress, engineUp: false }
      calls.failAll(error)
    },
    onAsleep: releaseMemory,
  })

  async function drain() {
    const id = ++lastId
    const drained = Promise.withResolvers<void>()
    drains.set(id, drained.resolve)
    worker.sendOrWake({ type: 'drain', id })
    await drained.promise
    drains.delete(id)
    await counts.settled(progress.batch)
  }

  return {
    ask: (query) => calls.ask<HitAnswer[]>({ type: 'ask', query }, { timeoutMs: ASK_TIMEOUT_MS }),
    export: (request, signal) => calls.ask<ExportedFile>({ type: 'export', request }, { signal }),
    async findLastClicks(query, timeoutMs = ASK_TIMEOUT_MS) {
      if (writePosition[WAITING_HITS] !== 0) throw unavailable('Hits wait in memory for room on the disk', 1)
      const call = { type: 'lastClicks', query, through: spoolEnd() } as const
      return calls.ask<(LastClick | null)[]>(call, { timeoutMs })
    },
    async pruneHits(moment) {
      since = Math.max(since, moment)
      await calls.ask({ type: 'forget', since })
    },
    eraseHits: (workspaceIds) => calls.ask<void>({ type: 'erase', workspaceIds }),
    drain,
    countedUntil: () => (isEverythingShipped() ? Math.max(progress.until, now()) : progress.until),
    setSalts(next) {
      salts = next
      worker.sendIfRunning({ type: 'salts', salts })
    },
    setOwnHosts(next) {
      ownHosts = next
      worker.sendIfRunning({ type: 'ownHosts', ownHosts })
    },
    state: () => ({ ...progress, workerUp: !worker.isLost(), restarts: worker.restarts(), counted }),
    async close() {
      await worker.close()
      counts.stop()
    },
  }
}
