// Every background job: name, period, function. (Shipping hits has a worker of its own: features/hits/ship.ts.)

import { forgetOldKeys } from './features/accounts/idempotency.ts'
import { forgetOldInvitations } from './features/accounts/invitations.ts'
import { forgetOldWindows } from './features/accounts/limits.ts'
import { forgetEndedSessions } from './features/accounts/session.ts'
import { forgetSpentTokens } from './features/forms/captcha-tokens.ts'
import { type ErasureNeeds, eraseDeleted } from './features/hits/erasures.ts'
import { retainedSince } from './features/hits/pruning.ts'
import { ensureSalts } from './features/hits/salts.ts'
import type { Salt } from './features/hits/visitor.ts'
import { forgetOldAttempts } from './features/notify/record.ts'
import { describeError, log } from './lib/log.ts'
import type { Rows } from './storage/rows/open.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

export interface JobNeeds extends ErasureNeeds {
  rows: Rows
  now: () => number
  setSalts: (salts: Salt[]) => void
  hitRetentionDays: number | undefined
  forgetHits: (since: number) => Promise<void>
  settleAttribution: () => Promise<void>
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
  {
    name: 'forget sessions that have ended',
    everyMs: 60 * MINUTE,
    run: ({ rows, now }) => forgetEndedSessions(rows, now()),
  },
  {
    name: 'forget old invitations',
    everyMs: 60 * MINUTE,
    run: ({ rows, now }) => forgetOldInvitations(rows, now()),
  },
  {
    name: 'forget old attempts at deliveries',
    everyMs: 60 * MINUTE,
    run: ({ rows, now }) => forgetOldAttempts(rows, now()),
  },
  {
    name: 'remove hits past their retention',
    everyMs: DAY,
    firstMs: 30 * SECOND,
    run: async ({ now, hitRetentionDays, forgetHits }) => {
      if (hitRetentionDays !== undefined) await forgetHits(retainedSince(now(), hitRetentionDays))
    },
  },
  {
    name: 'say which link brought a submission',
    everyMs: SECOND,
    run: ({ settleAttribution }) => settleAttribution(),
  },
  {
    name: 'forget spent captcha tokens',
    everyMs: 10 * MINUTE,
    run: ({ rows, now }) => forgetSpentTokens(rows, now()),
  },
  {
    // Often, because until then redirects of a deleted workspace go on.
    name: 'finish deleting workspaces',
    everyMs: 2 * SECOND,
    run: eraseDeleted,
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
