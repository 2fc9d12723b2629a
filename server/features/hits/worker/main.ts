// The ship worker, a process beside the server: spool → batches → engine, and the answers to questions. The hit engine
// lives in this process alone, so no redirect waits for a flush (50 ms), a long question, or a fault in the engine.

import { openTracing } from '../../../http/telemetry/open-tracing.ts'
import { describeError, log, setLogFormat, setLogLevel } from '../../../lib/log.ts'
import { lockForWorker } from '../../../storage/lock.ts'
import { createDailySalts } from '../../visitors/salts.ts'
import { pruneUnfinishedImports } from '../batches/hit-import.ts'
import { answerCall, cancelCall } from './answer-call.ts'
import { closeWorker, failWorker } from './close-worker.ts'
import { copyHitsIfWanted } from './copy-hits.ts'
import { connectToServer } from './ipc.ts'
import { lowerPriority } from './lower-priority.ts'
import { openWorker } from './open-worker.ts'
import { reportProgress } from './progress.ts'
import type { MessageToWorker } from './protocol.ts'
import { pruneBatches } from './prune-batches.ts'
import { reportIdle } from './report-idle.ts'
import { importPending, ship, shipOrLog } from './ship.ts'

// Redirects go first: a hit may wait, it is safe in the spool.
lowerPriority()
const { settings, send, onMessage } = await connectToServer()
setLogLevel(settings.logLevel)
setLogFormat(settings.logFormat)
const { version, node } = settings
const tracing = await openTracing(settings.tracing, { version, node, part: 'hit-worker' })
// Before anything is read: the worker of a server that was killed may still write batches.
await lockForWorker(settings.dataDir)
const salts = createDailySalts()
salts.set(settings.salts)
const worker = await openWorker(settings, salts, send)

async function drain(id: number) {
  await shipOrLog(worker)
  await worker.engine.settled()
  reportProgress(worker)
  send({ type: 'drained', id })
}

function shipWhatIsNew() {
  if (worker.shipping || performance.now() < worker.notBefore) return
  const logFailure = (error: unknown) => log.error('ship_failed', describeError(error))
  if (worker.importer.hasFiles()) importPending(worker).catch(logFailure)
  if (worker.reader.isBehind()) ship(worker).catch(logFailure)
}

let copying = false

async function copyHits() {
  if (copying) return
  copying = true
  await copyHitsIfWanted(worker).catch((error) => log.error('hit_copy_failed', describeError(error)))
  copying = false
}

const logPruneFailure = (error: unknown) => log.error('prune_failed', describeError(error))

worker.timers.push(
  setInterval(shipWhatIsNew, settings.shipEveryMs),
  setInterval(copyHits, settings.shipEveryMs),
  setInterval(() => pruneBatches(worker).catch(logPruneFailure), settings.pruneEveryMs),
  setInterval(() => reportIdle(worker).catch(logPruneFailure), settings.idleMs / 4),
)

process.on('uncaughtException', (error) => failWorker(worker, error))
process.on('unhandledRejection', (error) => failWorker(worker, error))
onMessage((message: MessageToWorker) => {
  if (message.type === 'call') void answerCall(worker, message)
  else if (message.type === 'cancel') cancelCall(worker, message.id)
  else if (message.type === 'stored') worker.clickCounts.confirmStored(message.number)
  else if (message.type === 'salts') salts.set(message.salts)
  else if (message.type === 'ownHosts') worker.ownHosts = new Set(message.ownHosts)
  else if (message.type === 'drain') void drain(message.id)
  else if (message.type === 'close') void closeWorker(worker, tracing)
})
pruneUnfinishedImports(settings.dataDir, Date.now()).catch((error) =>
  log.warn('incoming_not_cleaned', describeError(error)),
)
// A first pass at once: it erases raw hits that the last run had put into a batch and not erased yet.
void shipOrLog(worker)
