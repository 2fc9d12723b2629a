// Every background job: name, period, function. (Shipping hits has a worker of its own: features/hits/ship.ts.)

import { forgetOldKeys } from './features/accounts/idempotency.ts'
import { forgetOldWindows } from './features/accounts/limits.ts'
import { ensureSalts } from './features/hits/salts.ts'
import type { Salt } from './features/hits/visitor.ts'
import { describeError, log } from './lib/log.ts'
import type { Rows } from './storage/rows/open.ts'

const MINUTE = 60_000

export interface JobNeeds {
  rows: Rows
  now: () => number
  setSalts: (salts: Salt[]) => void
}

interface Job {
  name: string
  everyMs: number
  run: (needs: JobNeeds) => Promise<void>
}

const JOBS: Job[] = [
  {
    name: 'rotate visitor salts',
    everyMs: 5 * MINUTE,
    run: async ({ rows, now, setSalts }) => setSalts(await ensureSalts({ rows, now: now() })),
  },
  {
    name: 'forget old idempotency keys',
    everyMs: 60 * MINUTE,
    run: ({ rows, now }) => forgetOldKeys(rows, now()),
  },
  {
    name: 'forget old rate windows',
    everyMs: 10 * MINUTE,
    run: ({ rows, now }) => forgetOldWindows(rows, now()),
  },
]

/** Starts them all. A run that fails is logged and tried again at its next time. */
export function startJobs(needs: JobNeeds): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>()
  const timers = JOBS.map(({ name, everyMs, run }) =>
    setInterval(() => {
      const turn = run(needs)
        .catch((error) => log.error('job_failed', { job: name, ...describeError(error) }))
        .finally(() => running.delete(turn))
      running.add(turn)
    }, everyMs),
  )
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}
