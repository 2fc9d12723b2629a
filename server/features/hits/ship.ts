// The request thread's side of the ship worker: questions in, counts out, and another worker when one dies.

import { Worker } from 'node:worker_threads'
import { unavailable } from '../../lib/failure.ts'
import { currentLogLevel, describeError, log } from '../../lib/log.ts'
import type {
  ExportedFile,
  HitAnswer,
  HitAnswers,
  HitExport,
  HitQuery,
  LastClick,
  LastClicksQuery,
} from '../../storage/hits/engine.ts'
import { KEEP, type KeepLimits } from './pruning.ts'
import { openCalls } from './ship-calls.ts'
import type { FromWorker, Progress, ToWorker, WorkerSettings } from './ship-messages.ts'
import { LIVE_END, LIVE_SEGMENT, type Spool, WAITING } from './spool.ts'
import { type Counts, storeInOrder } from './store-counts.ts'
import type { Salt } from './visitor.ts'

const ASK_TIMEOUT_MS = 30_000
const CLOSE_TIMEOUT_MS = 20_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
const PRUNE_EVERY_MS = 60 * 60 * 1000

export interface Shipper extends HitAnswers {
  /** @throws `unavailable` when the engine is away or does not answer in 30 s. */
  ask(query: HitQuery): Promise<HitAnswer[]>
  /** @throws `unavailable` when the engine or room on the disk is away. */
  export(request: HitExport, signal: AbortSignal): Promise<ExportedFile>
  /**
   * Answers with every hit that was recorded until now.
   * @throws `unavailable` when the engine is away, or has not caught up or not answered in time.
   */
  lastClicks(query: LastClicksQuery, timeoutMs?: number): Promise<(LastClick | null)[]>
  /** Removes hits recorded before this moment, wherever they are kept, and takes no such hits any more. */
  forgetBefore(since: number): Promise<void>
  /** Removes all hits of these workspaces, wherever they are kept. */
  eraseHits(workspaceIds: number[]): Promise<void>
  setSalts(salts: Salt[]): void
  setOwnHosts(hosts: string[]): void
  /** Ships what is recorded until now. Does not wait for an engine that is away or rows that cannot be written. */
  drain(): Promise<void>
  state(): Progress & { workerUp: boolean; restarts: number; counted: number }
  close(): Promise<void>
}

export interface ShipperOptions {
  dataDir: string
  spool: Spool
  salts: Salt[]
  /** Hosts of this instance's short links, lower case. */
  ownHosts: string[]
  geoPath?: string
  /** The mark of this node in the rows. */
  countedUpTo: number
  /** Stores counts; called in order, one at a time, and again until it succeeds. */
  onShipped(counts: Counts): Promise<void>
  now?: () => number
  shipEveryMs?: number
  /** About how many hits one batch takes. */
  maxHits?: number
  keep?: KeepLimits
  pruneEveryMs?: number
  /** Hits recorded before this moment are past their retention; 0 keeps all. */
  since?: number
}

export function openShipper(options: ShipperOptions): Shipper {
  const { spool, now = Date.now } = options
  let { salts, ownHosts, countedUpTo: counted, since = 0 } = options
  let worker: Worker | null = null
  let closing = false
  let restarts = 0
  let pauseMs = FIRST_PAUSE_MS
  let restartTimer: Timer | undefined
  let lastId = 0
  let progress: Progress = {
    engineUp: false,
    batch: 0,
    mark: 0,
    until: 0,
    position: { seq: 0, offset: 0 },
    lost: { batches: 0, hits: 0 },
  }
  const drains = new Map<number, () => void>()
  const closed = Promise.withResolvers<void>()
  const counts = storeInOrder({
    node: spool.node,
    stored: counted,
    store: options.onShipped,
    onStored(number) {
      counted = number
      post({ type: 'stored', number })
    },
  })

  function post(message: ToWorker): boolean {
    worker?.postMessage(message)
    return worker !== null
  }
  const calls = openCalls(post)

  function startWorker() {
    const settings: WorkerSettings = {
      logLevel: currentLogLevel(),
      dataDir: options.dataDir,
      spoolDir: spool.dir,
      node: spool.node,
      shared: spool.shared,
      salts,
      ownHosts,
      geoPath: options.geoPath,
      countedUpTo: counted,
      shipEveryMs: options.shipEveryMs ?? 500,
      maxHits: options.maxHits ?? 200_000,
      keep: options.keep ?? KEEP,
      pruneEveryMs: options.pruneEveryMs ?? PRUNE_EVERY_MS,
      since,
    }
    const started = new Worker(new URL('./ship-worker.ts', import.meta.url), { workerData: settings })
    worker = started
    started.on('message', (message: FromWorker) => worker === started && receive(message))
    started.on('error', (error) => lost(started, error))
    started.on('exit', (code) => lost(started, new Error(`The ship worker ended with ${code}`)))
    for (const id of drains.keys()) post({ type: 'drain', id })
  }

  function lost(which: Worker, error: unknown) {
    if (worker !== which) return
    worker = null
    progress = { ...progress, engineUp: false }
    calls.failAll(error)
    if (closing) return closed.resolve()
    restarts++
    log.error('ship_worker_lost', { restartInMs: pauseMs, ...describeError(error) })
    void which.terminate()
    restartTimer = setTimeout(startWorker, pauseMs)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }

  function receive(message: FromWorker) {
    if (message.type === 'counts') counts.add(message.number, message.counts)
    else if (message.type === 'answer') calls.answered(message.id, message.value)
    else if (message.type === 'refusal') calls.refused(message.id, message.message, message.unavailable)
    else if (message.type === 'progress') {
      progress = message.progress
      if (progress.engineUp) pauseMs = FIRST_PAUSE_MS
    } else if (message.type === 'drained') drains.get(message.id)?.()
    else closed.resolve()
  }

  async function drain() {
    const id = ++lastId
    const drained = Promise.withResolvers<void>()
    drains.set(id, drained.resolve)
    post({ type: 'drain', id })
    await drained.promise
    drains.delete(id)
    await counts.settled(progress.batch)
  }

  startWorker()
  return {
    ask: (query) => calls.ask<HitAnswer[]>({ type: 'ask', query }, { timeoutMs: ASK_TIMEOUT_MS }),
    export: (request, signal) => calls.ask<ExportedFile>({ type: 'export', request }, { signal }),
    async lastClicks(query, timeoutMs = ASK_TIMEOUT_MS) {
      const { shared } = spool
      if (shared[WAITING] !== 0) throw unavailable('Hits wait in memory for room on the disk', 1)
      const through = { seq: shared[LIVE_SEGMENT] ?? 0, offset: shared[LIVE_END] ?? 0 }
      return calls.ask<(LastClick | null)[]>({ type: 'lastClicks', query, through }, { timeoutMs })
    },
    async forgetBefore(moment) {
      since = Math.max(since, moment)
      await calls.ask({ type: 'forget', since })
    },
    eraseHits: (workspaceIds) => calls.ask<void>({ type: 'erase', workspaceIds }),
    drain,
    countedUntil() {
      const { position, until } = progress
      const { shared } = spool
      const idle = position.seq === shared[LIVE_SEGMENT] && position.offset === shared[LIVE_END]
      return idle && shared[WAITING] === 0 ? Math.max(until, now()) : until
    },
    setSalts(next) {
      salts = next
      post({ type: 'salts', salts })
    },
    setOwnHosts(next) {
      ownHosts = next
      post({ type: 'ownHosts', ownHosts })
    },
    state: () => ({ ...progress, workerUp: worker !== null, restarts, counted }),
    async close() {
      if (closing) return closed.promise
      closing = true
      clearTimeout(restartTimer)
      if (!worker) return
      post({ type: 'close' })
      const late = setTimeout(() => {
        log.error('ship_worker_not_closed', { afterMs: CLOSE_TIMEOUT_MS })
        closed.resolve()
      }, CLOSE_TIMEOUT_MS)
      await closed.promise
      clearTimeout(late)
      counts.stop()
      await (worker as Worker | null)?.terminate()
    },
  }
}
