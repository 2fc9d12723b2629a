// The background jobs with their periods. (Hits have a worker process of their own: features/hits/worker/client.ts.)

import { pruneMailCounts } from '../features/accounts/abuse/mail-budget.ts'
import { pruneIdempotencyKeys } from '../features/accounts/access/idempotency.ts'
import { pruneRateWindows } from '../features/accounts/access/rate-limiter.ts'
import { pruneAudit } from '../features/accounts/audit/prune-audit.ts'
import { pruneSessions } from '../features/accounts/auth/sessions.ts'
import { pruneInvitations } from '../features/accounts/workspaces/invitations.ts'
import { pruneChanges } from '../features/cluster/prune-changes.ts'
import { pruneFormAttempts } from '../features/forms/attempts/attempt-counter.ts'
import { pruneSpentTokens } from '../features/forms/captcha/spent-tokens.ts'
import type { SubmissionPruner } from '../features/forms/erasure/prune-submissions.ts'
import { pruneReplies } from '../features/forms/replies/reply-outbox.ts'
import { closeClientNames } from '../features/forms/submissions/close-client-names.ts'
import { foldSubmissionTexts } from '../features/forms/submissions/fold-submission-texts.ts'
import { type ErasureNeeds, eraseDeletedWorkspaces } from '../features/hits/erase-deleted-workspaces.ts'
import { pruneMisses } from '../features/hits/misses/prune-misses.ts'
import { toRetentionStart } from '../features/hits/retention.ts'
import { moveNewClicks } from '../features/links/counters.ts'
import { recheckDomains } from '../features/links/domains/recheck-domains.ts'
import type { VerificationNeeds } from '../features/links/domains/verify-domain.ts'
import { foldSearchTexts } from '../features/links/fold-search-texts.ts'
import type { Site } from '../features/links/link.ts'
import { pruneTrash } from '../features/links/trash/prune-trash.ts'
import { pruneAttempts } from '../features/notify/delivery/prune-attempts.ts'
import { type CloseNeeds, closeDays } from '../features/proofs/close-days.ts'
import type { ImportService } from '../features/transfer/import/open-imports.ts'
import { pruneImportRows } from '../features/transfer/import/prune-imports.ts'
import { ensureSalts } from '../features/visitors/ensure-salts.ts'
import type { DailySalt } from '../features/visitors/salts.ts'
import { describeError, log } from '../lib/log.ts'
import type { Database } from '../storage/database/open-database.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

export interface JobNeeds extends ErasureNeeds {
  db: Database
  now: () => number
  site: Site
  setSalts: (salts: DailySalt[]) => void
  hitRetentionDays: number | undefined
  hits: CloseNeeds['hits']
  pruneHits: (since: number) => Promise<void>
  resolvePendingAttribution: () => Promise<void>
  reloadBlocklist: () => Promise<void>
  sweepUploads: () => Promise<void>
  eraseFiles: () => Promise<void>
  reportMissing: () => Promise<void>
  watchDestinations: () => Promise<void>
  makeBackup: () => Promise<void>
  imports: Pick<ImportService, 'run' | 'eraseHistories' | 'pruneFiles' | 'failAbandoned'>
  /** Runs the work on one node at a time: see features/cluster/leases.ts. */
  runAlone(name: string, holdMs: number, work: () => Promise<void>): Promise<boolean>
  followClock: () => Promise<void>
  submissionPruner: Pick<SubmissionPruner, 'run'>
  verification: VerificationNeeds
  /** Tells channels of the clicks that this node has recorded. */
  announceClicks: () => Promise<void>
  /** Tells channels of the links that have expired. */
  announceExpired: () => Promise<void>
  /** Ends splits whose time is over. */
  endDueSplits: () => Promise<void>
  /** Sends reports of views that are due. */
  sendReports: () => Promise<void>
  /** Checks alerts of views that are due. */
  sendAlerts: () => Promise<void>
  /** Absent where no other server can ask for files of this one. */
  pruneBuiltFiles?: () => Promise<void>
}

interface Job {
  name: string
  /**
   * `node`: the job keeps something of this process, or of its directory. `cluster`: it works on shared rows, so one
   * node does it for all, under a lease as long as the period.
   */
  runsOn: 'node' | 'cluster'
  everyMs: number
  /** When the job runs first; after one period when absent. */
  firstMs?: number
  run: (needs: JobNeeds) => Promise<void>
}

const JOBS: Job[] = [
  {
    name: 'rotate visitor salts',
    runsOn: 'node',
    // After the clock has jumped to another day, both processes hash visitors of it with substitutes of their own.
    everyMs: 30 * SECOND,
    run: async ({ db, now, setSalts }) => setSalts(await ensureSalts({ db, now: now() })),
  },
  {
    name: 'prune idempotency keys',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneIdempotencyKeys(db, now()),
  },
  {
    name: 'prune rate windows',
    runsOn: 'cluster',
    everyMs: 10 * MINUTE,
    run: ({ db, now }) => pruneRateWindows(db, now()),
  },
  {
    name: 'prune sessions',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneSessions(db, now()),
  },
  {
    name: 'prune invitations',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneInvitations(db, now()),
  },
  {
    name: 'prune mail counts',
    runsOn: 'cluster',
    everyMs: DAY,
    run: ({ db, now }) => pruneMailCounts(db, now()),
  },
  {
    name: 'prune audit log',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneAudit(db, now()),
  },
  {
    name: 'prune delivery attempts',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneAttempts(db, now()),
  },
  {
    name: 'follow the clock',
    runsOn: 'node',
    everyMs: 5 * SECOND,
    firstMs: 0,
    run: ({ followClock }) => followClock(),
  },
  {
    name: 'end splits',
    runsOn: 'cluster',
    everyMs: MINUTE,
    run: ({ endDueSplits }) => endDueSplits(),
  },
  {
    // Each node has its batches, and a mark of its own.
    name: 'announce clicks',
    runsOn: 'node',
    everyMs: 5 * SECOND,
    run: ({ announceClicks }) => announceClicks(),
  },
  {
    name: 'announce expired links',
    runsOn: 'cluster',
    everyMs: 30 * SECOND,
    firstMs: SECOND,
    run: ({ announceExpired }) => announceExpired(),
  },
  {
    name: 'send reports of views',
    runsOn: 'cluster',
    everyMs: 30 * SECOND,
    run: ({ sendReports }) => sendReports(),
  },
  {
    name: 'check alerts of views',
    runsOn: 'cluster',
    everyMs: 60 * SECOND,
    run: ({ sendAlerts }) => sendAlerts(),
  },
  {
    name: 'prune submissions',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    firstMs: 2 * MINUTE,
    run: ({ submissionPruner }) => submissionPruner.run(),
  },
  {
    name: 'close names of browsers',
    runsOn: 'cluster',
    everyMs: DAY,
    firstMs: MINUTE,
    run: ({ db }) => closeClientNames(db),
  },
  {
    name: 'fold search texts',
    runsOn: 'cluster',
    everyMs: DAY,
    firstMs: MINUTE,
    async run({ db }) {
      await foldSearchTexts(db)
      await foldSubmissionTexts(db)
    },
  },
  {
    name: 'prune form attempts',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneFormAttempts(db, now()),
  },
  {
    name: 'prune replies',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneReplies(db, now()),
  },
  {
    name: 'prune hits',
    runsOn: 'node',
    everyMs: DAY,
    firstMs: 30 * SECOND,
    run: async ({ now, hitRetentionDays, pruneHits }) => {
      if (hitRetentionDays !== undefined) await pruneHits(toRetentionStart(now(), hitRetentionDays))
    },
  },
  {
    name: 'prune misses',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now, hitRetentionDays }) => {
      const since = hitRetentionDays === undefined ? 0 : toRetentionStart(now(), hitRetentionDays)
      return pruneMisses({ db, now: now(), since })
    },
  },
  {
    name: 'report missing slugs',
    runsOn: 'cluster',
    everyMs: 10 * MINUTE,
    run: ({ reportMissing }) => reportMissing(),
  },
  {
    name: 'close days',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    firstMs: 5 * MINUTE,
    run: (needs) => closeDays(needs),
  },
  {
    // A run takes 35 seconds at most, and the last check of it 20 more.
    name: 'watch destinations',
    runsOn: 'cluster',
    everyMs: MINUTE,
    run: ({ watchDestinations }) => watchDestinations(),
  },
  {
    // Lists are sorted by what this job moves.
    name: 'move new clicks into links',
    runsOn: 'cluster',
    everyMs: MINUTE,
    run: ({ db }) => moveNewClicks(db),
  },
  {
    name: 'prune the trash of links',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneTrash(db, now()),
  },
  {
    // Each verified domain once a day, and new ones more often.
    name: 'look at the DNS of domains',
    runsOn: 'cluster',
    everyMs: 10 * MINUTE,
    run: ({ verification }) => recheckDomains(verification),
  },
  {
    // Each node says which files it has, so that the others keep them.
    name: 'prune built files',
    runsOn: 'node',
    everyMs: 10 * MINUTE,
    run: async ({ pruneBuiltFiles }) => pruneBuiltFiles?.(),
  },
  {
    name: 'resolve pending attribution',
    runsOn: 'cluster',
    everyMs: SECOND,
    run: ({ resolvePendingAttribution }) => resolvePendingAttribution(),
  },
  {
    name: 'prune changes',
    runsOn: 'cluster',
    everyMs: MINUTE,
    run: ({ db }) => pruneChanges(db),
  },
  {
    name: 'reload the blocklist',
    runsOn: 'node',
    everyMs: SECOND,
    run: ({ reloadBlocklist }) => reloadBlocklist(),
  },
  {
    name: 'erase the files of deleted submissions',
    // All workers of a machine share one directory, and all nodes one bucket.
    runsOn: 'cluster',
    everyMs: 5 * SECOND,
    run: ({ eraseFiles }) => eraseFiles(),
  },
  {
    // At the start, a server sweeps what its last run left in its directory.
    name: 'sweep uploads without a submission',
    runsOn: 'node',
    everyMs: 60 * MINUTE,
    firstMs: 0,
    run: ({ sweepUploads }) => sweepUploads(),
  },
  {
    name: 'prune captcha tokens',
    runsOn: 'cluster',
    everyMs: 10 * MINUTE,
    run: ({ db, now }) => pruneSpentTokens(db, now()),
  },
  {
    // A backup has the directories of all workers of a machine.
    name: 'make a backup when one is due',
    runsOn: 'node',
    everyMs: MINUTE,
    firstMs: 3 * SECOND,
    run: ({ makeBackup }) => makeBackup(),
  },
  {
    // Each node has the files of its imports. A command may leave one in the database, so the job looks often.
    name: 'run imports',
    runsOn: 'node',
    everyMs: SECOND,
    firstMs: 0,
    run: ({ imports }) => imports.run(),
  },
  {
    name: 'erase click histories of undone imports',
    runsOn: 'node',
    everyMs: 2 * SECOND,
    run: ({ imports }) => imports.eraseHistories(),
  },
  {
    name: 'prune files of imports',
    runsOn: 'node',
    everyMs: 60 * MINUTE,
    firstMs: MINUTE,
    run: ({ imports }) => imports.pruneFiles(),
  },
  {
    name: 'prune rows of imports',
    runsOn: 'cluster',
    everyMs: 60 * MINUTE,
    run: ({ db, now }) => pruneImportRows(db, now()),
  },
  {
    name: 'fail imports of lost servers',
    runsOn: 'cluster',
    everyMs: 10 * MINUTE,
    firstMs: 5 * SECOND,
    run: ({ imports }) => imports.failAbandoned(),
  },
  {
    name: 'erase deleted workspaces',
    runsOn: 'node',
    everyMs: 2 * SECOND,
    run: eraseDeletedWorkspaces,
  },
]

async function runOnItsNode(needs: JobNeeds, { name, runsOn, everyMs, run }: Job): Promise<void> {
  if (runsOn === 'node') await run(needs)
  else await needs.runAlone(name, everyMs, () => run(needs))
}

/** Starts all jobs. A job never overlaps itself. A failed run is logged, and the job runs again a minute later. */
export function startJobs(needs: JobNeeds): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>()
  const timers = new Map<string, Timer>()
  let stopped = false

  function schedule(job: Job, inMs: number) {
    if (!stopped) timers.set(job.name, setTimeout(runJob, inMs, job))
  }

  function runJob(job: Job) {
    const run = runOnItsNode(needs, job)
      .then(() => schedule(job, job.everyMs))
      .catch((error) => {
        log.error('job_failed', { job: job.name, ...describeError(error) })
        schedule(job, MINUTE)
      })
      .finally(() => running.delete(run))
    running.add(run)
  }

  for (const job of JOBS) schedule(job, job.firstMs ?? job.everyMs)
  return {
    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running)
    },
  }
}
