// Every background job: name, period, function. (Shipping hits has a worker of its own: features/hits/worker/client.ts.)

import { pruneIdempotencyKeys } from './features/accounts/access/idempotency.ts'
import { pruneRateWindows } from './features/accounts/access/rate-limiter.ts'
import { pruneSessions } from './features/accounts/auth/sessions.ts'
import { pruneInvitations } from './features/accounts/workspaces/invitations.ts'
import { pruneSpentTokens } from './features/forms/captcha/spent-tokens.ts'
import { type ErasureNeeds, eraseDeletedWorkspaces } from './features/hits/erase-deleted-workspaces.ts'
import { toRetentionStart } from './features/hits/retention.ts'
import { pruneAttempts } from './features/notify/delivery/record-attempts.ts'
import { ensureSalts } from './features/visitors/ensure-salts.ts'
import type { DailySalt } from './features/visitors/salts.ts'
import { describeError, log } from './lib/log.ts'
import type { Database } from './storage/database/open-database.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

export interface JobNeeds extends ErasureNeeds {
  db: Database
  now: () => number
  setSalts: (salts: DailySalt[]) => void
  hitRetentionDays: number | undefined
  forgetHits: (since: number) => Promise<void>
  resolvePendingAttribution: () => Promise<void>
}

interface Job {
  name: string
  everyMs: number
  /** When it runs for the first time, where that is not after one period. */
  firstMs?: number
  run: (needs: JobNeeds) => Promise<void>
}

const JOBS: Job[] = [
  {
    name: 'rotate visitor salts',
    everyMs: 5 * MINUTE,
    run: async ({ db, now, setSalts }) => setSalts(await ensureSalts({ db, now: now() })),
  },
  {
    name: 'forget old idempotency keys',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneIdempotencyKeys(db, now()),
  },
  {
    name: 'forget old rate windows',
    everyMs: 10 * MINUTE,
    run: ({ db, now }) => pruneRateWindows(db, now()),
  },
  {
    name: 'forget sessions that have ended',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneSessions(db, now()),
  },
  {
    name: 'forget old invitations',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneInvitations(db, now()),
  },
  {
    name: 'forget old attempts at deliveries',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneAttempts(db, now()),
  },
  {
    name: 'remove hits past their retention',
    everyMs: DAY,
    firstMs: 30 * SECOND,
    run: async ({ now, hitRetentionDays, forgetHits }) => {
      if (hitRetentionDays !== undefined) await forgetHits(toRetentionStart(now(), hitRetentionDays))
    },
  },
  {
    name: 'say which link brought a submission',
    everyMs: SECOND,
    run: ({ resolvePendingAttribution }) => resolvePendingAttribution(),
  },
  {
    name: 'forget spent captcha tokens',
    everyMs: 10 * MINUTE,
    run: ({ db, now }) => pruneSpentTokens(db, now()),
  },
  {
    // Often, because until then redirects of a deleted workspace go on.
    name: 'finish deleting workspaces',
    everyMs: 2 * SECOND,
    run: eraseDeletedWorkspaces,
  },
]

/** Starts them all, each one turn at a time. A turn that fails is logged and tried again a minute later. */
export function startJobs(needs: JobNeeds): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>()
  const timers = new Map<string, Timer>()
  let stopped = false

  function plan(job: Job, inMs: number) {
    if (!stopped) timers.set(job.name, setTimeout(turn, inMs, job))
  }

  function turn(job: Job) {
    const run = job
      .run(needs)
      .then(() => plan(job, job.everyMs))
      .catch((error) => {
        log.error('job_failed', { job: job.name, ...describeError(error) })
        plan(job, MINUTE)
      })
      .finally(() => running.delete(run))
    running.add(run)
  }

  for (const job of JOBS) plan(job, job.firstMs ?? job.everyMs)
  return {
    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running)
    },
  }
}
