// Ships hits: a pass writes all hits of the spool to batches.

import { describeError, log } from '../../../lib/log.ts'
import { runForNobody } from '../../../lib/telemetry/request-context.ts'
import { readDiskSpace } from '../../../storage/disk-space.ts'
import { WAITING_HITS } from '../spool/write-position.ts'
import { reportProgress } from './progress.ts'
import type { WorkerState } from './worker-state.ts'

/** Pause of timers after a failed pass, for example on a full disk. */
const RETRY_MS = 1000

/** Runs a pass. A call during a pass waits for it, and then runs a new one. */
export async function ship(worker: WorkerState): Promise<void> {
  while (worker.shipping) await worker.shipping.catch(() => undefined) // the caller of that pass gets its error
  worker.shipping = runForNobody(() => runPass(worker)).finally(() => {
    worker.shipping = null
  })
  await worker.shipping
}

async function runPass(worker: WorkerState) {
  const until = Date.now()
  try {
    await verifyRoomForBatches(worker)
    await worker.importer.importNext()
    await worker.writeBatches()
  } catch (error) {
    worker.notBefore = performance.now() + RETRY_MS
    throw error
  }
  // Hits that wait in the server's memory are older than `until`, and are not in the spool yet.
  if (Atomics.load(worker.writePosition, WAITING_HITS) === 0)
    worker.shipped = {
      until,
      batch: worker.batches.at(-1)?.number ?? 0,
      position: worker.reader.position(),
    }
  reportProgress(worker)
}

/**
 * Keeps space on the disk while the hit engine is unavailable: waiting batches use at most half of the space that would be
 * free without them. Later hits stay in the spool, and then the rules for a low disk apply (docs/contract.md §16).
 * @throws while the engine is unavailable and the batches use their share of the disk
 */
async function verifyRoomForBatches(worker: WorkerState): Promise<void> {
  const { batches, engine, settings } = worker
  const bytes = batches.reduce((sum, batch) => sum + batch.bytes, 0)
  worker.bytesMax = settings.batchBytesMax ?? (bytes + (await readDiskSpace(settings.dataDir)).free) / 2
  if (bytes <= worker.bytesMax || engine.canLoad()) return
  throw new Error(
    `${batches.length} batches wait for the hit store and take half of the free disk. Hits stay in the spool`,
  )
}

/** Runs a pass and only logs its failure. */
export const shipOrLog = (worker: WorkerState): Promise<void> =>
  ship(worker).catch((error) => log.error('ship_failed', describeError(error)))

/** Turns files from other processes into batches, one after another. */
export const importPending = (worker: WorkerState): Promise<void> =>
  worker.importQueue(async () => {
    while (await worker.importer.prepareNext()) {
      if (worker.closing) return
      await ship(worker)
      // The engine loads this batch before the next file is imported, so that a visitor's click waits for one batch only.
      if (worker.engine.isUp()) await worker.engine.settled()
    }
  })
