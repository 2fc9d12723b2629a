// The server's client of the hit worker: sends questions and settings, receives answers and click counts.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { unavailable } from '../../../lib/failure.ts'
import { getLogFormat, getLogLevel } from '../../../lib/log.ts'
import { measureWait } from '../../../lib/telemetry/request-context.ts'
import { toHitFilePath } from '../../../storage/hits/duckdb/hit-file.ts'
import type {
  ExplainedAnswer,
  ExportedFile,
  HitEngine,
  HitReader,
  ImportedHits,
  LastClick,
  LastClicksQuery,
} from '../../../storage/hits/hit-engine.ts'
import type { DailySalt } from '../../visitors/salts.ts'
import { DEFAULT_BATCH_RETENTION } from '../batches/batch-retention.ts'
import { isHitCopyWanted } from '../batches/hit-copy.ts'
import { hasPendingImports } from '../batches/hit-import.ts'
import {
  type NewClicks,
  type NewClicksQuery,
  type PackedClicks,
  unpackClicks,
} from '../batches/new-clicks.ts'
import { ROLL_UP_PACE } from '../rollups/roll-up-loop.ts'
import { createWorkerCountSums, NO_COUNTS, type WorkerCountSums } from '../rollups/worker-counts.ts'
import type { SpoolPosition } from '../spool/position.ts'
import type { Spool } from '../spool/spool.ts'
import { WAITING_HITS, WRITE_OFFSET, WRITE_SEGMENT } from '../spool/write-position.ts'
import {
  type BatchClickCounts,
  type ClickCountReceiver,
  createClickCountReceiver,
} from './click-count-receiver.ts'
import { type StartWorker, startWorkerProcess } from './ipc.ts'
import type { EngineQuestion, MessageFromWorker, WorkerProgress, WorkerSettings } from './protocol.ts'
import { createQuestionGate, type QuestionGate, type QuestionStats } from './question-gate.ts'
import { createRpcClient, type RpcClient } from './rpc-client.ts'
import { openWorkerSupervisor, type WorkerSupervisor } from './worker-supervisor.ts'

const ASK_TIMEOUT_MS = 30_000
const SHIP_EVERY_MS = 500
const PRUNE_EVERY_MS = 60 * 60 * 1000
/**
 * A start takes half a second of one core, so the worker stays longer than the pauses between visitors of a small site.
 */
const IDLE_MS = 30_000

/**
 * Each question throws `unavailable` if the engine is unavailable or does not answer in 30 s; `ask` and `explain` also throw
 * `too_many` if the workspace has too many questions at once. `export` has no time limit.
 */
export interface HitWorkerClient extends HitReader, Pick<HitEngine, EngineQuestion> {
  /**
   * Includes every hit recorded until now.
   * @throws `unavailable` if the engine is unavailable, has not caught up, or does not answer in time
   */
  findLastClicks(query: LastClicksQuery, timeoutMs?: number): Promise<(LastClick | null)[]>
  /** Deletes the hits recorded before this time from batches and engine. Later, older hits are not loaded. */
  pruneHits(since: number): Promise<void>
  /** Erases all hits of these workspaces from spool, batches and engine. */
  eraseHits(workspaceIds: number[]): Promise<void>
  /**
   * Erases the clicks of an import from batches and engine. The counters of links still include them.
   * @throws `unavailable` while the engine is unavailable, or counts cannot be stored
   */
  eraseImportedHits(hits: ImportedHits): Promise<void>
  /** The clicks of this node's batches after a position, also while the engine is unavailable. @throws `unavailable` */
  readNewClicks(query: NewClicksQuery): Promise<NewClicks>
  setSalts(salts: DailySalt[]): void
  setOwnHosts(hosts: string[]): void
  /**
   * Ships all hits recorded until now. Does not wait if the engine is unavailable or rows cannot be written.
   */
  drain(): Promise<void>
  state(): WorkerProgress & {
    workerUp: boolean
    restarts: number
    counted: number
    questions: QuestionStats
  }
  close(): Promise<void>
}

type RequiredSetting = 'dataDir' | 'salts' | 'ownHosts' | 'countedUpTo'
type OwnSetting = RequiredSetting | 'spoolDir' | 'node' | 'logLevel' | 'logFormat'

export interface HitWorkerClientOptions
  extends Pick<WorkerSettings, RequiredSetting>,
    Partial<Omit<WorkerSettings, OwnSetting>> {
  spool: Spool
  /** The time up to which the answers have all hits of other nodes. By default there are no other nodes. */
  getOthersShippedUntil?: () => number
  /** Stores counts. Called in order, one batch at a time, and repeated until it succeeds. */
  storeCounts(counts: BatchClickCounts): Promise<void>
  now?: () => number
  /** A separate process by default. */
  startWorker?: StartWorker
}

interface ClientState {
  readonly options: HitWorkerClientOptions
  readonly calls: RpcClient
  readonly questions: QuestionGate
  readonly clickCounts: ClickCountReceiver
  salts: DailySalt[]
  ownHosts: string[]
  /** The last batch with counted clicks. */
  counted: number
  /** The last batch that channels were notified of. */
  toldUpTo: number | undefined
  since: number
  /** The last progress that the worker has reported. */
  progress: WorkerProgress
  /** Callers of `drain`, by number. */
  readonly drains: Map<number, () => void>
  lastDrainId: number
  /** Sums over all workers since the start. */
  readonly counts: WorkerCountSums
}

export function openHitWorkerClient(options: HitWorkerClientOptions): HitWorkerClient {
  const { spool, now = Date.now, shipEveryMs = SHIP_EVERY_MS } = options
  const isNew = isNewInstallation(options)
  const calls = createRpcClient(() => worker)
  const clickCounts = createClickCountReceiver({
    node: spool.node,
    stored: options.countedUpTo,
    store: options.storeCounts,
    onStored(number) {
      client.counted = number
      worker.sendIfRunning({ type: 'stored', number })
    },
  })
  const client = createState(options, calls, clickCounts, isNew)
  const worker: WorkerSupervisor = openWorkerSupervisor({
    start: options.startWorker ?? startWorkerProcess,
    settings: () => toSettings(client),
    receive: (message) => receive(client, message),
    isAwaited: () => client.calls.hasPending() || client.drains.size > 0,
    isBehind: () =>
      !isEverythingShipped(client) || hasPendingImports(options.dataDir) || isHitCopyWanted(options.dataDir),
    pollEveryMs: shipEveryMs,
    isNew,
    onStart() {
      client.counts.restart()
      client.calls.resend()
      for (const id of client.drains.keys()) worker.sendOrWake({ type: 'drain', id })
    },
    onLost(error) {
      client.progress = { ...client.progress, engineUp: false }
      client.calls.failAll(error)
    },
    onAsleep: releaseMemory,
  })
  return {
    ...createCalls(client),
    drain: () => drain(client, worker),
    countedUntil() {
      const { until } = client.progress
      return isEverythingShipped(client) ? Math.max(until, now()) : until
    },
    setSalts(salts) {
      client.salts = salts
      worker.sendIfRunning({ type: 'salts', salts })
    },
    setOwnHosts(ownHosts) {
      client.ownHosts = ownHosts
      worker.sendIfRunning({ type: 'ownHosts', ownHosts })
    },
    state: () => ({
      ...client.progress,
      ...client.counts.total(),
      workerUp: !worker.isLost(),
      restarts: worker.restarts(),
      counted: client.counted,
      questions: client.questions.stats(),
    }),
    async close() {
      await worker.close()
      client.clickCounts.stop()
    },
  }
}

function createState(
  options: HitWorkerClientOptions,
  calls: RpcClient,
  clickCounts: ClickCountReceiver,
  isNew: boolean,
): ClientState {
  const { salts, ownHosts, countedUpTo: counted, since = 0 } = options
  const { toldUpTo } = options
  const position = isNew ? getSpoolEnd(options.spool) : { seq: 0, offset: 0 }
  const lost = { batches: 0, hits: 0 }
  const waiting = { batches: 0, bytes: 0 }
  const questions = createQuestionGate(
    (question) => calls.call<ExplainedAnswer>({ type: 'ask', question }, { timeoutMs: ASK_TIMEOUT_MS }),
    () =>
      JSON.stringify([
        client.progress.until,
        client.progress.position,
        getSpoolEnd(options.spool),
        options.getOthersShippedUntil?.(),
      ]),
  )
  const client: ClientState = {
    options,
    calls,
    questions,
    clickCounts,
    salts,
    ownHosts,
    counted,
    toldUpTo,
    since,
    progress: {
      engineUp: isNew,
      batch: 0,
      shipped: { until: 0, position },
      mark: 0,
      until: 0,
      position,
      waiting,
      bytesMax: 0,
      lost,
      ...NO_COUNTS,
    },
    counts: createWorkerCountSums(),
    drains: new Map(),
    lastDrainId: 0,
  }
  return client
}

type Calls = Omit<HitWorkerClient, 'countedUntil' | 'setSalts' | 'setOwnHosts' | 'drain' | 'state' | 'close'>

function createCalls(client: ClientState): Calls {
  const { calls, questions } = client
  const { spool } = client.options
  const explain: Calls['explain'] = (query) => measureWait('hitQuestion', () => questions.ask(query))
  const passOn =
    <Name extends EngineQuestion>(type: Name) =>
    (...args: Parameters<HitEngine[Name]>) =>
      calls.call<Awaited<ReturnType<HitEngine[Name]>>>({ type, args }, { timeoutMs: ASK_TIMEOUT_MS })
  const readClicks = passOn('readClicks')
  return {
    ask: async (query) => (await explain(query)).answers,
    explain,
    export: (request, signal) =>
      measureWait('hitQuestion', () => calls.call<ExportedFile>({ type: 'export', request }, { signal })),
    async findLastClicks(query, timeoutMs = ASK_TIMEOUT_MS) {
      if (spool.writePosition[WAITING_HITS] !== 0)
        throw unavailable('Hits wait in memory for room on the disk', 1)
      const call = { type: 'lastClicks', query, through: getSpoolEnd(spool) } as const
      return calls.call<(LastClick | null)[]>(call, { timeoutMs })
    },
    async pruneHits(moment) {
      client.since = Math.max(client.since, moment)
      await calls.call({ type: 'prune', since: client.since })
    },
    eraseHits: (workspaceIds) => calls.call<void>({ type: 'erase', workspaceIds }),
    eraseImportedHits: (hits) => calls.call<void>({ type: 'eraseImported', hits }),
    findLastClickTimes: passOn('findLastClickTimes'),
    listRecentClicks: passOn('listRecentClicks'),
    inspect: passOn('inspect'),
    readClicks: (query) => measureWait('hitQuestion', () => readClicks(query)),
    async readNewClicks(query) {
      client.toldUpTo = Math.max(client.toldUpTo ?? 0, query.after.batch)
      const call = { type: 'newClicks', query } as const
      return unpackClicks(await calls.call<PackedClicks>(call, { timeoutMs: ASK_TIMEOUT_MS }))
    },
  }
}

function receive(client: ClientState, message: MessageFromWorker) {
  const { calls, clickCounts, drains } = client
  if (message.type === 'counts') clickCounts.add(message.number, message.counts)
  else if (message.type === 'answer') calls.resolve(message.id, message.value)
  else if (message.type === 'refusal') calls.reject(message.id, message.message, message.unavailable)
  else if (message.type === 'progress') {
    client.counts.update(message.progress)
    client.progress = message.progress
  } else if (message.type === 'drained') drains.get(message.id)?.()
}

async function drain(client: ClientState, worker: WorkerSupervisor) {
  const id = ++client.lastDrainId
  const drained = Promise.withResolvers<void>()
  client.drains.set(id, drained.resolve)
  worker.sendOrWake({ type: 'drain', id })
  await drained.promise
  client.drains.delete(id)
  await client.clickCounts.settled(client.progress.batch)
}

const toSettings = ({ options, salts, ownHosts, counted, toldUpTo, since }: ClientState): WorkerSettings => ({
  logLevel: getLogLevel(),
  logFormat: getLogFormat(),
  tracing: options.tracing,
  version: options.version ?? '',
  dataDir: options.dataDir,
  spoolDir: options.spool.dir,
  node: options.spool.node,
  salts,
  clickHouseUrls: options.clickHouseUrls,
  instance: options.instance,
  ownHosts,
  geoPath: options.geoPath,
  countedUpTo: counted,
  toldUpTo,
  shipEveryMs: options.shipEveryMs ?? SHIP_EVERY_MS,
  maxHits: options.maxHits ?? 200_000,
  batchRetention: options.batchRetention ?? DEFAULT_BATCH_RETENTION,
  pruneEveryMs: options.pruneEveryMs ?? PRUNE_EVERY_MS,
  batchBytesMax: options.batchBytesMax,
  since,
  idleMs: options.idleMs ?? IDLE_MS,
  rollUpPace: options.rollUpPace ?? ROLL_UP_PACE,
})

const getSpoolEnd = ({ writePosition }: Spool): SpoolPosition => ({
  seq: writePosition[WRITE_SEGMENT] ?? 0,
  offset: writePosition[WRITE_OFFSET] ?? 0,
})

/** True if every recorded hit is in a batch and in the engine's answers. */
function isEverythingShipped({ progress, options }: ClientState): boolean {
  const { writePosition } = options.spool
  return (
    progress.position.seq === writePosition[WRITE_SEGMENT] &&
    progress.position.offset === writePosition[WRITE_OFFSET] &&
    writePosition[WAITING_HITS] === 0
  )
}

/** A new installation has no batches, no engine, and no hits in its first segment. */
export const isNewInstallation = ({ dataDir, spool }: Pick<HitWorkerClientOptions, 'dataDir' | 'spool'>) =>
  spool.writePosition[WRITE_SEGMENT] === 1 &&
  spool.stats().appended === 0 &&
  [join(dataDir, 'batches'), toHitFilePath(dataDir)].every((path) => !existsSync(path))

/**
 * Frees memory after a while without clicks and questions. Garbage collection alone would keep the memory of the last
 * busy hour (15 of 155 MB after 200,000 redirects). Compiled code is dropped too, and compiled again in the next busy
 * hour.
 */
function releaseMemory() {
  Bun.gc(true)
  Bun.shrink()
}
