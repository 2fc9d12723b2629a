// Sums the counters of all hit workers since the start of the server. Each worker counts from zero, and ends when it is idle.

import { NO_QUESTIONS, type QuestionOrigins } from './question-origins.ts'
import type { RollUpStats } from './roll-up-loop.ts'

export interface WorkerCounts {
  /** The number of times that the engine could not be opened, or died. */
  engineFailures: number
  /** The origins of answers. */
  origins: QuestionOrigins
  rollUps: RollUpStats
}

export const NO_COUNTS: WorkerCounts = {
  engineFailures: 0,
  origins: NO_QUESTIONS,
  rollUps: { waiting: undefined, made: 0, failures: 0 },
}

export interface WorkerCountSums {
  /** Takes the newest counts of the running worker. */
  update(counts: WorkerCounts): void
  /** Another worker has started. */
  restart(): void
  total(): WorkerCounts
}

export function createWorkerCountSums(): WorkerCountSums {
  let earlier = NO_COUNTS
  let current = NO_COUNTS
  return {
    update({ engineFailures, origins, rollUps }) {
      current = { engineFailures, origins, rollUps }
    },
    restart() {
      earlier = add(earlier, current)
      current = NO_COUNTS
    },
    total: () => add(earlier, current),
  }
}

function add(a: WorkerCounts, b: WorkerCounts): WorkerCounts {
  const names = Object.keys(NO_QUESTIONS) as (keyof QuestionOrigins)[]
  const origins = { ...NO_QUESTIONS }
  for (const name of names) origins[name] = a.origins[name] + b.origins[name]
  return {
    engineFailures: a.engineFailures + b.engineFailures,
    origins,
    rollUps: {
      // A newly started worker has not checked yet: the last one's result still holds.
      waiting: b.rollUps.waiting ?? a.rollUps.waiting,
      made: a.rollUps.made + b.rollUps.made,
      failures: a.rollUps.failures + b.rollUps.failures,
    },
  }
}
