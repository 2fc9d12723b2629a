// The background jobs with their periods. (Hits have a worker process of their own: features/hits/worker/client.ts.)

import { pruneMailCounts } from '../features/accounts/abuse/mail-budget.ts'
import { pruneIdempotencyKeys } from '../features/accounts/access/idempotency.ts'
import { pruneRateWindows } from '../features/accounts/access/rate-limiter.ts'
import { pruneAudit } from '../features/accounts/audit/prune-audit.ts'
import { pruneSessions } from '../features/accounts/auth/sessions.ts'
import { pruneInvitations } from '../features/accounts/workspaces/invitations.ts'
import { pruneChanges } from '../features/cluster/prune-changes.ts'
import { pruneFormAttempts } from '../features/forms/attempts/prune-form-attempts.ts'
import { pruneSpentTokens } from '../features/forms/captcha/spent-tokens.ts'
import type { SubmissionPruner } from '../features/forms/erasure/prune-submissions.ts'
import { pruneReplies } from '../features/forms/replies/prune-replies.ts'
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
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

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
  everyMs: number
  /** When the job runs first. */
  firstMs: number
  run(needs: JobNeeds): Promise<unknown>
}

type Period = number | { every: number; first: number }

/** The job keeps something of this process, or of its directory. */
const onNode = (name: string, period: Period, run: (needs: JobNeeds) => Promise<unknown>): Job =>
  typeof period === 'number'
    ? { name, everyMs: period, firstMs: period, run }
    : { name, everyMs: period.every, firstMs: period.first, run }

/** The job works on shared rows, so one node does it for all, under a lease as long as the period. */
function onCluster(name: string, period: Period, run: (needs: JobNeeds) => Promise<void>): Job {
  const job = onNode(name, period, run)
  return { ...job, run: (needs) => needs.runAlone(name, job.everyMs, () => run(needs)) }
}

const JOBS: Job[] = [
  // After the clock has jumped to another day, both processes hash visitors of it with substitutes of their own.
  onNode('rotate visitor salts', 30 * SECOND, async ({ db, now, setSalts }) =>
    setSalts(await ensureSalts({ db, now: now() })),
  ),
  onNode('follow the clock', { every: 5 * SECOND, first: 0 }, (needs) => needs.followClock()),
  onNode('reload the blocklist', SECOND, (needs) => needs.reloadBlocklist()),
  // Each node has its batches, and a mark of its own.
  onNode('announce clicks', 5 * SECOND, (needs) => needs.announceClicks()),
  onNode('prune hits', { every: DAY, first: 30 * SECOND }, async ({ now, hitRetentionDays, pruneHits }) => {
    if (hitRetentionDays !== undefined) await pruneHits(toRetentionStart(now(), hitRetentionDays))
  }),
  onNode('erase deleted workspaces', 2 * SECOND, eraseDeletedWorkspaces),
  // Each node says which files it has, so that the others keep them.
  onNode('prune built files', 10 * MINUTE, async ({ pruneBuiltFiles }) => pruneBuiltFiles?.()),
  // At the start, a server sweeps what its last run left in its directory.
  onNode('sweep uploads without a submission', { every: HOUR, first: 0 }, (needs) => needs.sweepUploads()),
  // A backup has the directories of all workers of a machine.
  onNode('make a backup when one is due', { every: MINUTE, first: 3 * SECOND }, (needs) =>
    needs.makeBackup(),
  ),
  // Each node has the files of its imports. A command may leave one in the database, so the job looks often.
  onNode('run imports', { every: SECOND, first: 0 }, ({ imports }) => imports.run()),
  onNode('erase click histories of undone imports', 2 * SECOND, ({ imports }) => imports.eraseHistories()),
  onNode('prune files of imports', { every: HOUR, first: MINUTE }, ({ imports }) => imports.pruneFiles()),

  onCluster('resolve pending attribution', SECOND, (needs) => needs.resolvePendingAttribution()),
  // All workers of a machine share one directory, and all nodes one bucket.
  onCluster('erase the files of deleted submissions', 5 * SECOND, (needs) => needs.eraseFiles()),
  onCluster('end splits', MINUTE, (needs) => needs.endDueSplits()),
  onCluster('announce expired links', { every: 30 * SECOND, first: SECOND }, (needs) =>
    needs.announceExpired(),
  ),
  onCluster('send reports of views', 30 * SECOND, (needs) => needs.sendReports()),
  onCluster('check alerts of views', MINUTE, (needs) => needs.sendAlerts()),
  onCluster('report missing slugs', 10 * MINUTE, (needs) => needs.reportMissing()),
  // A run takes 35 seconds at most, and the last check of it 20 more.
  onCluster('watch destinations', MINUTE, (needs) => needs.watchDestinations()),
  // Lists are sorted by what this job moves.
  onCluster('move new clicks into links', MINUTE, ({ db }) => moveNewClicks(db)),
  onCluster('close days', { every: HOUR, first: 5 * MINUTE }, closeDays),
  // Each verified domain once a day, and new ones more often.
  onCluster('look at the DNS of domains', 10 * MINUTE, ({ verification }) => recheckDomains(verification)),
  onCluster('close names of browsers', { every: DAY, first: MINUTE }, ({ db }) => closeClientNames(db)),
  onCluster('fold search texts', { every: DAY, first: MINUTE }, async ({ db }) => {
    await foldSearchTexts(db)
    await foldSubmissionTexts(db)
  }),
  onCluster('fail imports of lost servers', { every: 10 * MINUTE, first: 5 * SECOND }, ({ imports }) =>
    imports.failAbandoned(),
  ),
  onCluster('prune submissions', { every: HOUR, first: 2 * MINUTE }, (needs) => needs.submissionPruner.run()),
  onCluster('prune misses', HOUR, ({ db, now, hitRetentionDays }) =>
    pruneMisses({ db, now: now(), since: toRetentionStart(now(), hitRetentionDays) }),
  ),
  onCluster('prune idempotency keys', HOUR, ({ db, now }) => pruneIdempotencyKeys(db, now())),
  onCluster('prune rate windows', 10 * MINUTE, ({ db, now }) => pruneRateWindows(db, now())),
  onCluster('prune captcha tokens', 10 * MINUTE, ({ db, now }) => pruneSpentTokens(db, now())),
  onCluster('prune sessions', HOUR, ({ db, now }) => pruneSessions(db, now())),
  onCluster('prune invitations', HOUR, ({ db, now }) => pruneInvitations(db, now())),
  onCluster('prune mail counts', DAY, ({ db, now }) => pruneMailCounts(db, now())),
  onCluster('prune audit log', HOUR, ({ db, now }) => pruneAudit(db, now())),
  onCluster('prune delivery attempts', HOUR, ({ db, now }) => pruneAttempts(db, now())),
  onCluster('prune form attempts', HOUR, ({ db, now }) => pruneFormAttempts(db, now())),
  onCluster('prune replies', HOUR, ({ db, now }) => pruneReplies(db, now())),
  onCluster('prune the trash of links', HOUR, ({ db, now }) => pruneTrash(db, now())),
  onCluster('prune rows of imports', HOUR, ({ db, now }) => pruneImportRows(db, now())),
  onCluster('prune changes', MINUTE, ({ db }) => pruneChanges(db)),
]

/** Starts all jobs. A job never overlaps itself. A failed run is logged, and the job runs again a minute later. */
export function startJobs(needs: JobNeeds): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>()
  const timers = new Map<string, Timer>()
  let stopped = false

  function schedule(job: Job, inMs: number) {
    if (!stopped) timers.set(job.name, setTimeout(runJob, inMs, job))
  }

  function runJob(job: Job) {
    const run = job
      .run(needs)
      .then(() => schedule(job, job.everyMs))
      .catch((error) => {
        log.error('job_failed', { job: job.name, ...describeError(error) })
        schedule(job, MINUTE)
      })
      .finally(() => running.delete(run))
    running.add(run)
  }

  for (const job of JOBS) schedule(job, job.firstMs)
  return {
    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running)
    },
  }
}
