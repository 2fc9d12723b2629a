// The process beside the server: spool → batches → engine, and the questions. The hit engine lives here and nowhere
// else, so neither a flush (50 ms) nor a long question nor a fault in it is ever felt by a redirect.

import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure, unavailable } from '../../lib/failure.ts'
import { giveWay } from '../../lib/give-way.ts'
import { describeError, log, setLogLevel } from '../../lib/log.ts'
import { type Geo, openGeo } from '../../storage/geo.ts'
import { openDuckDb } from '../../storage/hits/duckdb.ts'
import { queue } from '../../storage/hits/duckdb-connections.ts'
import { backupOf } from '../../storage/hits/duckdb-open.ts'
import type { Batch, HitExport, LastClicksQuery } from '../../storage/hits/engine.ts'
import { lockForShipping } from '../../storage/lock.ts'
import { readAgent } from './agent.ts'
import { type BatchFile, type ClickCount, isBefore, listBatches, type Position } from './batches.ts'
import { startCounting } from './counting.ts'
import { inspectBatch, setAside } from './damaged-batch.ts'
import { createDescriber } from './describe.ts'
import { forgetUnfinished, openIncoming } from './incoming.ts'
import { keepEngine } from './keep-engine.ts'
import { LIVE_SEGMENT, mapLiveEnd, WAITING } from './live-end.ts'
import { prunable } from './pruning.ts'
import { openSpoolReader } from './read-spool.ts'
import { eraseHitsOf, forgetBefore, type RemovingNeeds } from './removing.ts'
import { openServerLine } from './ship-line.ts'
import type { Call, ToWorker } from './ship-messages.ts'
import { HEADER_BYTES } from './spool-format.ts'
import { createSaltBook } from './visitor.ts'
import { batchWriter } from './write-batches.ts'

/** How long a pass that failed (a full disk) is not tried again. */
const RETRY_MS = 1000
const SETTLE_MS = 3000
/** How long an engine that is loading is waited for. */
const CATCH_UP_MS = 2000
const NOTHING = { until: 0, batch: 0, position: { seq: 0, offset: 0 } }

// A redirect waits for nobody; a hit may, it is safe in the spool.
giveWay()
const { settings, send, listen } = await openServerLine()
setLogLevel(settings.logLevel)
const { node, dataDir } = settings
// Before anything is read: another one's batches are still coming.
await lockForShipping(dataDir)
const shared = mapLiveEnd(settings.spoolDir)
const enginePath = join(dataDir, 'hits.duckdb')
const batchesDir = join(dataDir, 'batches', node)

const salts = createSaltBook()
salts.set(settings.salts)
let ownHosts: ReadonlySet<string> = new Set(settings.ownHosts)
const geo = openGeoOrNone(settings.geoPath)
const describer = createDescriber({ geo, readAgent, saltOf: salts.of, ownHosts: () => ownHosts })
const lost = { batches: 0, hits: 0 }
let { since } = settings

const batches: BatchFile[] = await listBatches(batchesDir, node)
const otherBatches = await listOtherBatches()
const start = startOfReading()
const reader = openSpoolReader(settings.spoolDir, shared, start)
let described = { until: 0, batch: batches.at(-1)?.number ?? 0, position: start }
/** How far the engine's answers go. */
let reached = NOTHING

const engine = keepEngine({
  open: openEngine,
  node,
  batches: () => [...otherBatches, batches],
  repair,
  onChange: report,
})
const counting = startCounting({
  countedUpTo: settings.countedUpTo,
  batches,
  send: (number, counts) => send({ type: 'counts', number, counts }),
  onError: fail,
})
await engine.tried
// Above the other marks too: were batches lost, their numbers must not be used for other hits.
let lastNumber = Math.max(batches.at(-1)?.number ?? 0, settings.countedUpTo, engine.mark(node))
const numbering = {
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
const writeBatches = batchWriter({ ...numbering, reader, maxHits: settings.maxHits, describer })
const incoming = openIncoming({ ...numbering, dataDir, position: reader.position })

const removing: RemovingNeeds = {
  dataDir,
  enginePath,
  engine,
  batches: () => [...otherBatches, batches],
  node,
  counted: counting.counted,
  async ship() {
    await takeIn()
    await ship()
  },
}
/** What takes batches away or rewrites them: two at once would work on each other's files. */
const keepingHouse = queue()
const exporting = new Map<number, AbortController>()

let shipping: Promise<void> | null = null
let notBefore = 0
let closing = false
/** Calls in hand. */
let answering = 0
let busyAt = Date.now()

/** One pass at a time; whoever asks during one gets it and another. */
async function ship(): Promise<void> {
  while (shipping) await shipping.catch(() => undefined) // its own caller hears of it
  shipping = pass().finally(() => {
    shipping = null
  })
  await shipping
}

async function pass() {
  const until = Date.now()
  try {
    await incoming.take()
    await writeBatches()
  } catch (error) {
    notBefore = Date.now() + RETRY_MS
    throw error
  }
  // Hits that wait in the server's memory are older than now and not here yet.
  if (Atomics.load(shared, WAITING) === 0)
    described = { until, batch: batches.at(-1)?.number ?? 0, position: reader.position() }
  report()
}

const inTurn = queue()
/** Makes batches of what is handed over, one after another. */
const takeIn = () =>
  inTurn(async () => {
    while (await incoming.prepare()) {
      if (closing) return
      await ship()
      // The engine has this one before the next: a click of the moment waits for one.
      if (engine.isUp()) await engine.settled()
    }
  })

function report() {
  const mark = engine.mark(node)
  if (mark >= described.batch) reached = described
  // An engine that is made anew holds less than the one before.
  else if (mark < reached.batch) reached = NOTHING
  const { until, position } = reached
  send({
    type: 'progress',
    progress: { engineUp: engine.isUp(), batch: described.batch, mark, until, position, lost },
  })
}

/** A batch that rotted on the disk makes room for those behind it; one that is whole is tried again. */
async function repair(batch: Batch): Promise<boolean> {
  const { sound, hits } = await inspectBatch(batch.path)
  if (sound) return false
  await setAside(batch, hits)
  lost.batches++
  lost.hits += hits
  return true
}

async function prune() {
  const state = { now: Date.now(), mark: engine.mark(node), counted: counting.counted() }
  const doomed = prunable(batches, state, settings.keep)
  if (doomed.length === 0 || (await hasRecentBackup())) return
  await engine.backup(backupOf(enginePath))
  for (const batch of doomed) await rm(batch.path, { force: true })
  batches.splice(0, doomed.length)
  log.info('hit_batches_pruned', { batches: doomed.length })
}

/** Backups are as big as the engine's file, and a worker that is often started must not make one each time. */
async function hasRecentBackup() {
  const made = await stat(backupOf(enginePath)).catch(() => undefined)
  return made !== undefined && Date.now() - made.mtimeMs < settings.pruneEveryMs
}

async function answer(id: number, call: Call) {
  answering++
  try {
    send({ type: 'answer', id, value: await perform(id, call) })
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
    answering--
  }
}

async function perform(id: number, call: Call): Promise<unknown> {
  switch (call.type) {
    case 'ask':
      return engine.use((up) => up.ask(call.query))
    case 'lastClicks':
      return lastClicks(call.query, call.through)
    case 'export':
      return exportHits(id, call.request)
    case 'forget':
      since = call.since
      return keepingHouse(() => forgetBefore(removing, since))
    case 'erase':
      return keepingHouse(() => eraseHitsOf(removing, call.workspaceIds))
  }
}

async function lastClicks(query: LastClicksQuery, through: Position) {
  const isReached = () => engine.isUp() && !isBefore(reached.position, through)
  if (engine.isUp() && !isReached()) {
    await ship().catch((error) => {
      throw unavailable(error, 1)
    })
    await Promise.race([engine.settled(), Bun.sleep(CATCH_UP_MS)])
    report()
  }
  if (!isReached()) throw unavailable('The hit engine has not caught up', 1)
  return engine.use((up) => up.lastClicks(query))
}

async function exportHits(id: number, request: HitExport) {
  const cancelled = new AbortController()
  exporting.set(id, cancelled)
  try {
    return await engine.use((up) => up.export(request, cancelled.signal))
  } finally {
    exporting.delete(id)
  }
}

const cancel = (id: number) => exporting.get(id)?.abort(unavailable('Nobody waits for it any more'))

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
  answering === 0 &&
  !reader.behind() &&
  Atomics.load(shared, WAITING) === 0 &&
  !incoming.waits() &&
  engine.isUp() &&
  engine.mark(node) >= lastNumber &&
  counting.counted() >= lastNumber

/** Whoever started this worker lets it go, unless there is something to do again. */
async function offerToGo() {
  if (!isIdle()) busyAt = Date.now()
  if (closing || Date.now() - busyAt < settings.idleMs) return
  busyAt = Date.now()
  await keepingHouse(prune)
  send({ type: 'idle' })
}

/** What nobody foresaw: the engine is closed properly and the server starts another worker. */
function fail(error: unknown) {
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
  if (since > 0) await up.forget(since)
  return up
}

function openGeoOrNone(path: string | undefined): Geo {
  try {
    return openGeo(path)
  } catch (error) {
    log.error('geo_unavailable', { path, ...describeError(error) })
    return { lookup: () => ({ country: null, region: null, city: null, continent: null }) }
  }
}

/** Batches of a spool that is no longer there: for an engine that has to be rebuilt. */
async function listOtherBatches(): Promise<BatchFile[][]> {
  const nodes = await readdir(join(dataDir, 'batches'), { withFileTypes: true })
  const others = nodes.filter((entry) => entry.isDirectory() && entry.name !== node)
  return Promise.all(others.map(({ name }) => listBatches(join(dataDir, 'batches', name), name)))
}

function startOfReading(): Position {
  const end = batches.at(-1)?.end
  if (!end) return { seq: 0, offset: HEADER_BYTES }
  const live = Atomics.load(shared, LIVE_SEGMENT)
  if (live === 0 || end.seq <= live) return end
  // Somebody put an older spool in place of this one. Its hits may be in the batches; not counting any is worse.
  log.error('spool_older_than_batches', { spool: live, batches: end.seq })
  return { seq: 0, offset: HEADER_BYTES }
}

const shipTimer = setInterval(() => {
  if (shipping || Date.now() < notBefore) return
  const failed = (error: unknown) => log.error('ship_failed', describeError(error))
  if (incoming.waits()) takeIn().catch(failed)
  if (reader.behind()) ship().catch(failed)
}, settings.shipEveryMs)
const pruneTimer = setInterval(() => {
  keepingHouse(prune).catch((error) => log.error('prune_failed', describeError(error)))
}, settings.pruneEveryMs)
const idleTimer = setInterval(() => {
  offerToGo().catch((error) => log.error('prune_failed', describeError(error)))
}, settings.idleMs / 4)

process.on('uncaughtException', fail)
process.on('unhandledRejection', fail)
listen((message: ToWorker) => {
  if (message.type === 'call') void answer(message.id, message.call)
  else if (message.type === 'cancel') cancel(message.id)
  else if (message.type === 'stored') counting.stored(message.number)
  else if (message.type === 'salts') salts.set(message.salts)
  else if (message.type === 'ownHosts') ownHosts = new Set(message.ownHosts)
  else if (message.type === 'drain') void drain(message.id)
  else if (message.type === 'close') void close()
})
forgetUnfinished(dataDir, Date.now()).catch((error) => log.warn('incoming_not_cleaned', describeError(error)))
// A first pass at once: it deletes what the last run had described and not yet destroyed.
ship().catch((error) => log.error('ship_failed', describeError(error)))
