// The process beside the server: spool → batches → engine, and the questions. The hit engine lives here and nowhere
// else, so neither a flush (50 ms) nor a long question nor a fault in it is ever felt by a redirect.

import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, unavailable } from '../../../lib/failure.ts'
import { describeError, log, setLogLevel } from '../../../lib/log.ts'
import { createGeoLookup, type GeoLookup } from '../../../storage/geo.ts'
import { createSerialQueue } from '../../../storage/hits/duckdb/connections.ts'
import { openDuckDb } from '../../../storage/hits/duckdb/engine.ts'
import { toBackupPath } from '../../../storage/hits/duckdb/open-file.ts'
import type { Batch, HitExport, LastClicksQuery } from '../../../storage/hits/hit-engine.ts'
import { lockForWorker } from '../../../storage/lock.ts'
import { parseUserAgent } from '../../visitors/user-agent.ts'
import { createDailySalts } from '../../visitors/visitor-id.ts'
import {
  type BatchFile,
  type ClickCount,
  isBefore,
  listBatches,
  type SpoolPosition,
} from '../batches/batch-file.ts'
import { inspectBatch, quarantineBatch } from '../batches/batch-reader.ts'
import { createBatchWriter } from '../batches/batch-writer.ts'
import { createEnricher } from '../batches/enricher.ts'
import { createHitImporter, pruneUnfinishedImports } from '../batches/hit-import.ts'
import { selectPrunableBatches } from '../batches/retention.ts'
import { HEADER_BYTES } from '../spool/record-format.ts'
import { openSpoolReader } from '../spool/spool-reader.ts'
import { mapWritePosition, WAITING_HITS, WRITE_SEGMENT } from '../spool/write-position.ts'
import { createClickCountSender } from './click-count-sender.ts'
import { openEngineSupervisor } from './engine-supervisor.ts'
import { type EraseHitsNeeds, eraseHits, pruneHits } from './erase-hits.ts'
import { connectToServer } from './ipc.ts'
import { lowerPriority } from './lower-priority.ts'
import type { MessageToWorker, WorkerCall } from './protocol.ts'

/** How long a pass that failed (a full disk) is not tried again. */
const RETRY_MS = 1000
const SETTLE_MS = 3000
/** How long an engine that is loading is waited for. */
const CATCH_UP_MS = 2000
const NO_PROGRESS = { until: 0, batch: 0, position: { seq: 0, offset: 0 } }

// A redirect waits for nobody; a hit may, it is safe in the spool.
lowerPriority()
const { settings, send, onMessage } = await connectToServer()
setLogLevel(settings.logLevel)
const { node, dataDir } = settings
// Before anything is read: another one's batches are still coming.
await lockForWorker(dataDir)
const shared = mapWritePosition(settings.spoolDir)
const enginePath = join(dataDir, 'hits.duckdb')
const batchesDir = join(dataDir, 'batches', node)

const salts = createDailySalts()
salts.set(settings.salts)
let ownHosts: ReadonlySet<string> = new Set(settings.ownHosts)
const geo = openGeoOrNone(settings.geoPath)
const describer = createEnricher({ geo, parseUserAgent, getSalt: salts.of, ownHosts: () => ownHosts })
const lost = { batches: 0, hits: 0 }
let { since } = settings

const batches: BatchFile[] = await listBatches(batchesDir, node)
const otherBatches = await listOtherBatches()
const readStart = findReadStart()
const reader = openSpoolReader(settings.spoolDir, shared, readStart)
let described = { until: 0, batch: batches.at(-1)?.number ?? 0, position: readStart }
/** How far the engine's answers go. */
let answered = NO_PROGRESS

const engine = openEngineSupervisor({
  open: openEngine,
  node,
  batches: () => [...otherBatches, batches],
  repair,
  onChange: report,
})
const counting = createClickCountSender({
  countedUpTo: settings.countedUpTo,
  batches,
  send: (number, counts) => send({ type: 'counts', number, counts }),
  onError: failWorker,
})
await engine.firstAttempt
// Above the other marks too: were batches lost, their numbers must not be used for other hits.
let lastNumber = Math.max(batches.at(-1)?.number ?? 0, settings.countedUpTo, engine.mark(node))
const batchNumbering = {
  dir: batchesDir,
  node,
  lastNumber: () => lastNumber,
  onBatch(batch: BatchFile, counts: ClickCount[]) {
    lastNumber = batch.number
    batches.push(batch)
    counting.add(batch, counts)
    engine.wake()
  },
}
const writeBatches = createBatchWriter({
  ...batchNumbering,
  reader,
  maxHits: settings.maxHits,
  enricher: describer,
})
const incoming = createHitImporter({ ...batchNumbering, dataDir, position: reader.position })

const eraseNeeds: EraseHitsNeeds = {
  dataDir,
  enginePath,
  engine,
  batches: () => [...otherBatches, batches],
  node,
  lastCounted: counting.lastCounted,
  async ship() {
    await importPending()
    await ship()
  },
}
/** What takes batches away or rewrites them: two at once would work on each other's files. */
const maintenanceQueue = createSerialQueue()
const runningExports = new Map<number, AbortController>()

let shipping: Promise<void> | null = null
let notBefore = 0
let closing = false
/** Calls in hand. */
let activeCalls = 0
let busyAt = Date.now()

/** One pass at a time; whoever asks during one gets it and another. */
async function ship(): Promise<void> {
  while (shipping) await shipping.catch(() => undefined) // its own caller hears of it
  shipping = shipOnce().finally(() => {
    shipping = null
  })
  await shipping
}

async function shipOnce() {
  const until = Date.now()
  try {
    await incoming.importNext()
    await writeBatches()
  } catch (error) {
    notBefore = Date.now() + RETRY_MS
    throw error
  }
  // Hits that wait in the server's memory are older than now and not here yet.
  if (Atomics.load(shared, WAITING_HITS) === 0)
    described = { until, batch: batches.at(-1)?.number ?? 0, position: reader.position() }
  report()
}

const importQueue = createSerialQueue()
/** Makes batches of what is handed over, one after another. */
const importPending = () =>
  importQueue(async () => {
    while (await incoming.prepareNext()) {
      if (closing) return
      await ship()
      // The engine has this one before the next: a click of the moment waits for one.
      if (engine.isUp()) await engine.settled()
    }
  })

function report() {
  const mark = engine.mark(node)
  if (mark >= described.batch) answered = described
  // An engine that is made anew holds less than the one before.
  else if (mark < answered.batch) answered = NO_PROGRESS
  const { until, position } = answered
  send({
    type: 'progress',
    progress: { engineUp: engine.isUp(), batch: described.batch, mark, until, position, lost },
  })
}

/** A batch that rotted on the disk makes room for those behind it; one that is whole is tried again. */
async function repair(batch: Batch): Promise<boolean> {
  const { sound, hits } = await inspectBatch(batch.path)
  if (sound) return false
  await quarantineBatch(batch, hits)
  lost.batches++
  lost.hits += hits
  return true
}

async function prune() {
  const state = { now: Date.now(), mark: engine.mark(node), counted: counting.lastCounted() }
  const doomed = selectPrunableBatches(batches, state, settings.batchRetention)
  if (doomed.length === 0 || (await hasRecentBackup())) return
  await engine.backup(toBackupPath(enginePath))
  for (const batch of doomed) await rm(batch.path, { force: true })
  batches.splice(0, doomed.length)
  log.info('hit_batches_pruned', { batches: doomed.length })
}

/** Backups are as big as the engine's file, and a worker that is often started must not make one each time. */
async function hasRecentBackup() {
  const made = await stat(toBackupPath(enginePath)).catch(() => undefined)
  return made !== undefined && Date.now() - made.mtimeMs < settings.pruneEveryMs
}

async function answerCall(id: number, call: WorkerCall) {
  activeCalls++
  try {
    send({ type: 'answer', id, value: await performCall(id, call) })
  } catch (error) {
    const away = error instanceof Failure && error.code === 'unavailable'
    if (!away) log.error('hit_question_failed', describeError(error))
    const reason = away ? (error.detail.cause ?? error) : error
    send({
      type: 'refusal',
      id,
      message: reason instanceof Error ? reason.message : String(reason),
      unavailable: away,
    })
  } finally {
    activeCalls--
  }
}

async function performCall(id: number, call: WorkerCall): Promise<unknown> {
  switch (call.type) {
    case 'ask':
      return engine.use((up) => up.ask(call.query))
    case 'lastClicks':
      return lastClicks(call.query, call.through)
    case 'export':
      return exportHits(id, call.request)
    case 'forget':
      since = call.since
      return maintenanceQueue(() => pruneHits(eraseNeeds, since))
    case 'erase':
      return maintenanceQueue(() => eraseHits(eraseNeeds, call.workspaceIds))
  }
}

async function lastClicks(query: LastClicksQuery, through: SpoolPosition) {
  const isReached = () => engine.isUp() && !isBefore(answered.position, through)
  if (engine.isUp() && !isReached()) {
    await ship().catch((error) => {
      throw unavailable(error, 1)
    })
    await Promise.race([engine.settled(), Bun.sleep(CATCH_UP_MS)])
    report()
  }
  if (!isReached()) throw unavailable('The hit engine has not caught up', 1)
  return engine.use((up) => up.findLastClicks(query))
}

async function exportHits(id: number, request: HitExport) {
  const cancelled = new AbortController()
  runningExports.set(id, cancelled)
  try {
    return await engine.use((up) => up.export(request, cancelled.signal))
  } finally {
    runningExports.delete(id)
  }
}

const cancel = (id: number) => runningExports.get(id)?.abort(unavailable('Nobody waits for it any more'))

async function drain(id: number) {
  await ship().catch((error) => log.error('ship_failed', describeError(error)))
  await engine.settled()
  report()
  send({ type: 'drained', id })
}

async function close() {
  if (closing) return
  closing = true
  clearInterval(shipTimer)
  clearInterval(pruneTimer)
  clearInterval(idleTimer)
  await ship().catch((error) => log.error('ship_failed', describeError(error)))
  // A long backlog is loaded after the next start as well.
  await Promise.race([engine.settled(), Bun.sleep(SETTLE_MS)])
  await engine.close()
  await reader.close()
  send({ type: 'closed' })
}

const isIdle = () =>
  !shipping &&
  activeCalls === 0 &&
  !reader.isBehind() &&
  Atomics.load(shared, WAITING_HITS) === 0 &&
  !incoming.hasFiles() &&
  engine.isUp() &&
  engine.mark(node) >= lastNumber &&
  counting.lastCounted() >= lastNumber

/** Whoever started this worker lets it go, unless there is something to do again. */
async function reportIdle() {
  if (!isIdle()) busyAt = Date.now()
  if (closing || Date.now() - busyAt < settings.idleMs) return
  busyAt = Date.now()
  await maintenanceQueue(prune)
  send({ type: 'idle' })
}

/** What nobody foresaw: the engine is closed properly and the server starts another worker. */
function failWorker(error: unknown) {
  log.error('ship_worker_failed', describeError(error))
  if (closing) return
  closing = true
  void engine.close().finally(() => process.exit(1))
}

/** A backup may be older than what retention has taken out since. */
async function openEngine() {
  const up = await openDuckDb({
    path: enginePath,
    batchDir: join(dataDir, 'batches'),
    scratchDir: join(dataDir, 'tmp'),
    since: () => since,
  })
  if (since > 0) await up.deleteBefore(since)
  return up
}

function openGeoOrNone(path: string | undefined): GeoLookup {
  try {
    return createGeoLookup(path)
  } catch (error) {
    log.error('geo_unavailable', { path, ...describeError(error) })
    return { findPlace: () => ({ country: null, region: null, city: null, continent: null }) }
  }
}

/** Batches of a spool that is no longer there: for an engine that has to be rebuilt. */
async function listOtherBatches(): Promise<BatchFile[][]> {
  const nodes = await readdir(join(dataDir, 'batches'), { withFileTypes: true })
  const others = nodes.filter((entry) => entry.isDirectory() && entry.name !== node)
  return Promise.all(others.map(({ name }) => listBatches(join(dataDir, 'batches', name), name)))
}

function findReadStart(): SpoolPosition {
  const end = batches.at(-1)?.end
  if (!end) return { seq: 0, offset: HEADER_BYTES }
  const live = Atomics.load(shared, WRITE_SEGMENT)
  if (live === 0 || end.seq <= live) return end
  // Somebody put an older spool in place of this one. Its hits may be in the batches; not counting any is worse.
  log.error('spool_older_than_batches', { spool: live, batches: end.seq })
  return { seq: 0, offset: HEADER_BYTES }
}

const shipTimer = setInterval(() => {
  if (shipping || Date.now() < notBefore) return
  const failed = (error: unknown) => log.error('ship_failed', describeError(error))
  if (incoming.hasFiles()) importPending().catch(failed)
  if (reader.isBehind()) ship().catch(failed)
}, settings.shipEveryMs)
const pruneTimer = setInterval(() => {
  maintenanceQueue(prune).catch((error) => log.error('prune_failed', describeError(error)))
}, settings.pruneEveryMs)
const idleTimer = setInterval(() => {
  reportIdle().catch((error) => log.error('prune_failed', describeError(error)))
}, settings.idleMs / 4)

process.on('uncaughtException', failWorker)
process.on('unhandledRejection', failWorker)
onMessage((message: MessageToWorker) => {
  if (message.type === 'call') void answerCall(message.id, message.call)
  else if (message.type === 'cancel') cancel(message.id)
  else if (message.type === 'stored') counting.confirmStored(message.number)
  else if (message.type === 'salts') salts.set(message.salts)
  else if (message.type === 'ownHosts') ownHosts = new Set(message.ownHosts)
  else if (message.type === 'drain') void drain(message.id)
  else if (message.type === 'close') void close()
})
pruneUnfinishedImports(dataDir, Date.now()).catch((error) =>
  log.warn('incoming_not_cleaned', describeError(error)),
)
// A first pass at once: it deletes what the last run had described and not yet destroyed.
ship().catch((error) => log.error('ship_failed', describeError(error)))
