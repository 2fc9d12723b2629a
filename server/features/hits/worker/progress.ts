// Reports the worker's progress to the server.

import { NOTHING_SHIPPED, type WorkerState } from './worker-state.ts'

/** Call it after each pass, and after each change of the engine. */
export function reportProgress(worker: WorkerState): void {
  const { engine, shipped, lost } = worker
  const mark = engine.mark(worker.settings.node)
  if (mark >= shipped.batch) worker.answered = shipped
  // A rebuilt engine has fewer hits than the previous one.
  else if (mark < worker.answered.batch) worker.answered = NOTHING_SHIPPED
  const { until, position } = worker.answered
  worker.send({
    type: 'progress',
    progress: {
      engineUp: engine.isUp(),
      batch: shipped.batch,
      shipped,
      mark,
      until,
      position,
      waiting: countWaitingBatches(worker),
      bytesMax: worker.bytesMax,
      lost,
      engineFailures: engine.countFailures(),
      origins: worker.origins,
      rollUps: worker.rollUps.stats(),
    },
  })
}

/** The batches that the engine is not known to have. */
function countWaitingBatches({ batches, engine, settings }: WorkerState) {
  const waiting = batches.filter(({ number }) => number > engine.mark(settings.node))
  return { batches: waiting.length, bytes: waiting.reduce((sum, batch) => sum + batch.bytes, 0) }
}
