// Ends the ship worker.

import { describeError, log } from '../../../lib/log.ts'
import { shipOrLog } from './ship.ts'
import type { WorkerState } from './worker-state.ts'

const SETTLE_MS = 3000

/**
 * Ships what is recorded, closes the engine and tells the server, which then ends the process.
 * @param tracing sends its last spans
 */
export async function closeWorker(
  worker: WorkerState,
  tracing: { close(): Promise<void> } | undefined,
): Promise<void> {
  if (worker.closing) return
  worker.closing = true
  for (const timer of worker.timers) clearInterval(timer)
  const rollUpsClosed = worker.rollUps.close()
  await shipOrLog(worker)
  // A long backlog can be loaded after the next start as well.
  await Promise.race([worker.engine.settled(), Bun.sleep(SETTLE_MS)])
  await Promise.all([worker.engine.close(), rollUpsClosed])
  await worker.reader.close()
  await tracing?.close()
  worker.send({ type: 'closed' })
}

/** Ends the process after an unexpected error: closes the engine properly, and the server starts another worker. */
export function failWorker(worker: WorkerState, error: unknown): void {
  log.error('ship_worker_failed', describeError(error))
  if (worker.closing) return
  worker.closing = true
  void worker.engine.close().finally(() => process.exit(1))
}
