// Opens the parts of the hit worker: the spool's reader, the batches, the engine, and the sender of the click counts.

import { createSerialQueue, type SerialQueue } from '../../../lib/concurrency/serial-queue.ts'
import { log } from '../../../lib/log.ts'
import type { Batch } from '../../../storage/hits/hit-engine.ts'
import type { DailySalts } from '../../visitors/salts.ts'
import { parseUserAgent } from '../../visitors/user-agent.ts'
import { type BatchFile, listBatches, listBatchNodes, toBatchDirectory } from '../batches/batch-file.ts'
import { inspectBatch, quarantineBatch } from '../batches/batch-reader.ts'
import { type BatchSequence, createBatchWriter } from '../batches/batch-writer.ts'
import { createEnricher } from '../batches/enricher.ts'
import { createHitImporter } from '../batches/hit-importer.ts'
import { openGeoLookup } from '../batches/open-geo-lookup.ts'
import { NO_QUESTIONS } from '../rollups/question-origins.ts'
import { openRollUpLoop } from '../rollups/roll-up-loop.ts'
import type { SpoolPosition } from '../spool/position.ts'
import { HEADER_BYTES } from '../spool/record-format.ts'
import { openSpoolReader } from '../spool/spool-reader.ts'
import { mapWritePosition, WRITE_SEGMENT } from '../spool/write-position.ts'
import { createClickCountSender } from './click-count-sender.ts'
import { openEngineSupervisor } from './engine-supervisor.ts'
import { openEngine } from './open-engine.ts'
import { reportProgress } from './progress.ts'
import type { MessageFromWorker, WorkerSettings } from './protocol.ts'
import { hasBacklog, listAllBatches, NOTHING_SHIPPED, type WorkerState } from './worker-state.ts'

/**
 * Resolves when the engine is open, or the first attempt to open it has failed.
 * @param fail called after an unexpected error
 */
export async function openWorker(
  settings: WorkerSettings,
  salts: DailySalts,
  { send, fail }: { send(message: MessageFromWorker): void; fail(error: unknown): void },
): Promise<WorkerState> {
  const { node, dataDir } = settings
  const dir = toBatchDirectory(dataDir, node)
  const writePosition = mapWritePosition(settings.spoolDir)
  const batches = await listBatches(dir, node)
  const otherBatches = await listOtherBatches(dataDir, node)
  const readStart = findReadStart(batches, writePosition)
  const reader = openSpoolReader(settings.spoolDir, writePosition, readStart)
  const sequence: BatchSequence = {
    dir,
    node,
    lastNumber: () => worker.lastNumber,
    onBatch(batch, counts) {
      worker.lastNumber = batch.number
      batches.push(batch)
      worker.clickCounts.add(batch, counts)
      worker.engine.wake()
    },
  }
  const enricher = openEnricher(settings, salts, () => worker.ownHosts)
  const maintenanceQueue = createSerialQueue()
  // The parts call `worker` back only after their own first await.
  const worker: WorkerState = {
    settings,
    send,
    writePosition,
    reader,
    engine: openEngineSupervisor({
      open: () => openEngine(settings, () => worker.since),
      node,
      batches: () => listAllBatches(worker),
      repair: (batch) => repairBatch(worker, batch),
      onChange: () => reportProgress(worker),
    }),
    rollUps: openRollUps(() => worker, maintenanceQueue, settings),
    clickCounts: createClickCountSender({
      countedUpTo: settings.countedUpTo,
      batches,
      send: (number, counts) => send({ type: 'counts', number, counts }),
      onError: fail,
    }),
    importer: createHitImporter({ ...sequence, dataDir, position: reader.position }),
    writeBatches: createBatchWriter({
      ...sequence,
      reader,
      maxHits: settings.maxHits,
      enricher,
      isCompressed: settings.clickHouseUrls !== undefined,
    }),
    batches,
    otherBatches,
    lastNumber: batches.at(-1)?.number ?? 0,
    ownHosts: new Set(settings.ownHosts),
    since: settings.since,
    shipped: { until: 0, batch: batches.at(-1)?.number ?? 0, position: readStart },
    ...createIdleState(settings),
    maintenanceQueue,
  }
  await worker.engine.firstAttempt
  // Above the other marks too, because the numbers of lost batches must not be used for other hits.
  worker.lastNumber = Math.max(worker.lastNumber, ...listMarks(settings), worker.engine.mark(node))
  // Opening a large engine takes time, which is not idle time.
  worker.busyAt = performance.now()
  return worker
}

const listMarks = ({ countedUpTo, toldUpTo = 0 }: WorkerSettings) => [countedUpTo, toldUpTo]

const openEnricher = (
  { geoPath }: WorkerSettings,
  { get: getSalt }: DailySalts,
  ownHosts: () => ReadonlySet<string>,
) => createEnricher({ geo: openGeoLookup(geoPath), parseUserAgent, getSalt, ownHosts })

const openRollUps = (
  getWorker: () => WorkerState,
  queue: SerialQueue,
  { rollUpPace: pace }: Pick<WorkerSettings, 'rollUpPace'>,
) =>
  openRollUpLoop({
    rollUp: () => getWorker().engine.use((engine) => engine.rollUp(Date.now())),
    mayRun() {
      const worker = getWorker()
      return !worker.closing && worker.engine.canLoad() && !hasBacklog(worker)
    },
    queue,
    onChange: () => reportProgress(getWorker()),
    pace,
  })

/** The initial state of a worker. */
const createIdleState = ({ toldUpTo }: WorkerSettings) => ({
  toldUpTo,
  answered: NOTHING_SHIPPED,
  lost: { batches: 0, hits: 0 },
  bytesMax: 0,
  shipping: null,
  notBefore: 0,
  importQueue: createSerialQueue(),
  origins: NO_QUESTIONS,
  runningExports: new Map(),
  activeCalls: 0,
  busyAt: performance.now(),
  timers: [],
  closing: false,
})

/** Replaces a batch that the disk has damaged. An intact batch is tried again. @returns true if it was damaged */
async function repairBatch({ lost }: WorkerState, batch: Batch): Promise<boolean> {
  const { intact, hits } = await inspectBatch(batch.path)
  if (intact) return false
  await quarantineBatch(batch, hits)
  lost.batches++
  lost.hits += hits
  return true
}

async function listOtherBatches(dataDir: string, node: string): Promise<BatchFile[][]> {
  const others = (await listBatchNodes(dataDir)).filter((name) => name !== node)
  return Promise.all(others.map((name) => listBatches(toBatchDirectory(dataDir, name), name)))
}

/** The position in the spool at which the last batch ended. */
function findReadStart(batches: readonly BatchFile[], writePosition: Int32Array): SpoolPosition {
  const end = batches.at(-1)?.end
  if (!end) return { seq: 0, offset: HEADER_BYTES }
  const live = Atomics.load(writePosition, WRITE_SEGMENT)
  if (live === 0 || end.seq <= live) return end
  // An operator has restored an older spool. Its hits may already be in batches, but losing them would be
  // worse.
  log.error('spool_older_than_batches', { spool: live, batches: end.seq })
  return { seq: 0, offset: HEADER_BYTES }
}
