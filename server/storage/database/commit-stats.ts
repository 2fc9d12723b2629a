// Measures commits: the number of writes in one, and its duration.

import { createHistogram, type HistogramSnapshot } from '../../lib/telemetry/histogram.ts'
import { addWait, findRequest } from '../../lib/telemetry/request-context.ts'
import type { SpanStart } from '../../lib/telemetry/tracing.ts'

export interface CommitSnapshot {
  /** Writes in one commit. */
  writes: HistogramSnapshot
  seconds: HistogramSnapshot
}

export interface CommitStats {
  addCommit(writes: number, ms: number): void
  read(): CommitSnapshot
}

const WRITES = [1, 2, 5, 10, 20, 50, 100, 200, 500]
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

export function createCommitStats(): CommitStats {
  const [writes, seconds] = [createHistogram(WRITES), createHistogram(SECONDS)]
  return {
    addCommit(count, ms) {
      writes.observe(count)
      seconds.observe(ms / 1000)
    },
    read: () => ({ writes: writes.read(), seconds: seconds.read() }),
  }
}

/** The span of a write, with its wait for its turn. It never has a statement, because a statement can have values. */
export const toWriteSpan = (
  system: 'sqlite' | 'postgresql',
  since: number,
  from: number,
): Pick<SpanStart, 'name' | 'attributes'> => ({
  name: 'write rows',
  attributes: { 'db.system.name': system, 'towpath.commit_queue_ms': Math.max(0, Math.round(from - since)) },
})

/** Waits for a write in PostgreSQL, and adds the time to the current request. */
export async function measureWrite<T>(work: Promise<T>): Promise<T> {
  const [request, from] = [findRequest(), performance.now()]
  const value = await work
  addWait(request, 'commit', { from, until: performance.now() }, toWriteSpan('postgresql', from, from))
  return value
}
