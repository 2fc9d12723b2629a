// The background jobs with their periods. (Hits have a worker process of their own: features/hits/worker/client.ts.)

import type { Config } from '../config/config.ts'
import { pruneMailCounts } from '../features/accounts/abuse/mail-budget.ts'
import { pruneIdempotencyKeys } from '../features/accounts/access/idempotency.ts'
import { pruneRateWindows } from '../features/accounts/access/rate-limiter.ts'
import { pruneAudit } from '../features/accounts/audit/prune-audit.ts'
import { pruneSessions } from '../features/accounts/auth/sessions.ts'
import { pruneInvitations } from '../features/accounts/workspaces/invitations.ts'
import { createClickAnnouncer } from '../features/analytics/feed/announce-clicks.ts'
import { reportMissing } from '../features/analytics/missing/report-missing.ts'
import type { BackupSchedule } from '../features/backup/schedule.ts'
import { pruneChanges } from '../features/cluster/prune-changes.ts'
import { createDestinationWatch } from '../features/destinations/watch-destinations.ts'
import { pruneFormAttempts } from '../features/forms/attempts/attempt-counter.ts'
import { pruneSpentTokens } from '../features/forms/captcha/spent-tokens.ts'
import type { SubmissionPruner } from '../features/forms/erasure/prune-submissions.ts'
import { pruneReplies } from '../features/forms/replies/reply-outbox.ts'
import { closeClientNames } from '../features/forms/submissions/close-client-names.ts'
import { foldSubmissionTexts } from '../features/forms/submissions/fold-submission-texts.ts'
import { eraseDeletedWorkspaces } from '../features/hits/erase-deleted-workspaces.ts'
import { pruneMisses } from '../features/hits/misses/prune-misses.ts'
import { toRetentionStart } from '../features/hits/retention.ts'
import { moveNewClicks } from '../features/links/counters.ts'
import { createExpirationAnnouncer } from '../features/links/counting/closed-links.ts'
import { recheckDomains } from '../features/links/domains/recheck-domains.ts'
import { foldSearchTexts } from '../features/links/fold-search-texts.ts'
import { pruneTrash } from '../features/links/trash/prune-trash.ts'
import { createClockFollower } from '../features/notify/delivery/follow-clock.ts'
import { pruneAttempts } from '../features/notify/delivery/prune-attempts.ts'
import { closeDays } from '../features/proofs/close-days.ts'
import { endDueSplits } from '../features/splits/end-split.ts'
import type { ImportService } from '../features/transfer/import/open-imports.ts'
import { pruneImportRows } from '../features/transfer/import/prune-imports.ts'
import { sendDueAlerts } from '../features/views/alerts/send-alerts.ts'
import { sendDueReports } from '../features/views/reports/send-reports.ts'
import { ensureSalts } from '../features/visitors/ensure-salts.ts'
import { describeError, log } from '../lib/log.ts'
import type { Database } from '../storage/database/open-database.ts'
import { createVerificationNeeds } from './api-needs.ts'
import type { CommonParts } from './common-parts.ts'
import type { Stores } from './stores.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface Job {
  name: string
  everyMs: number
  /** When the job runs first. */
  firstMs: number
  run(): Promise<unknown>
}

type Period = number | { every: number; first: number }

const toJob = (name: string, period: Period, run: Job['run']): Job =>
  typeof period === 'number'
    ? { name, everyMs: period, firstMs: period, run }
    : { name, everyMs: period.every, firstMs: period.first, run }

export interface JobParts extends CommonParts, Pick<Stores, 'setSalts'> {
  imports: ImportService
  submissionPruner: SubmissionPruner
  backups: BackupSchedule
  wakeDeliverer: () => void
}

/** Jobs that keep something of this process, or of its directory. */
function listNodeJobs(config: Config, parts: JobParts): Job[] {
  const { db, now, hits, imports, uploads, spool } = parts
  const own = { ...parts, node: spool.node, origin: config.origin }
  const { hitRetentionDays: days } = config
  return [
    // After the clock has jumped to another day, both processes hash visitors of it with substitutes of their own.
    toJob('rotate visitor salts', 30 * SECOND, async () =>
      parts.setSalts(await ensureSalts({ db, now: now() })),
    ),
    toJob('follow the clock', { every: 5 * SECOND, first: 0 }, createClockFollower(parts)),
    toJob('reload the blocklist', SECOND, parts.blocklist.reload),
    // Each node has its batches, and a mark of its own.
    toJob('announce clicks', 5 * SECOND, createClickAnnouncer(own).run),
    toJob('prune hits', { every: DAY, first: 30 * SECOND }, async () => {
      if (days !== undefined) await hits.pruneHits(toRetentionStart(now(), days))
    }),
    toJob('erase deleted workspaces', 2 * SECOND, () =>
      eraseDeletedWorkspaces({ ...own, eraseHits: hits.eraseHits }),
    ),
    // Each node says which files it has, so that the others keep them. A server alone has no need to.
    toJob('prune built files', 10 * MINUTE, async () => parts.builtFiles?.prune()),
    // At the start, a server sweeps what its last run left in its directory.
    toJob('sweep uploads without a submission', { every: HOUR, first: 0 }, uploads.sweep),
    // A backup has the directories of all workers of a machine.
    toJob('make a backup when one is due', { every: MINUTE, first: 3 * SECOND }, parts.backups.run),
    // Each node has the files of its imports. A command may leave one in the database, so the job looks often.
    toJob('run imports', { every: SECOND, first: 0 }, imports.run),
    toJob('erase click histories of undone imports', 2 * SECOND, imports.eraseHistories),
    toJob('prune files of imports', { every: HOUR, first: MINUTE }, imports.pruneFiles),
  ]
}

/** Jobs that work on shared rows: one node does them for all. */
function listClusterJobs(config: Config, parts: JobParts): Job[] {
  const { db, now, imports, wakeDeliverer } = parts
  const { origin, hitRetentionDays } = config
  const counting = {
    ...parts,
    origin,
    defaultDomain: parts.site.domain,
    wakeDeliverer,
  }
  const verification = createVerificationNeeds(parts)
  return [
    toJob('resolve pending attribution', SECOND, parts.resolveAllPending),
    // All workers of a machine share one directory, and all nodes one bucket.
    toJob('erase the files of deleted submissions', 5 * SECOND, parts.uploads.erase),
    toJob('end splits', MINUTE, () => endDueSplits(counting)),
    toJob(
      'announce expired links',
      { every: 30 * SECOND, first: SECOND },
      createExpirationAnnouncer(parts).run,
    ),
    toJob('send reports of views', 30 * SECOND, () => sendDueReports(counting)),
    toJob('check alerts of views', MINUTE, () => sendDueAlerts(counting)),
    toJob('report missing slugs', 10 * MINUTE, () => reportMissing(counting)),
    // A run takes 35 seconds at most, and the last check of it 20 more.
    toJob(
      'watch destinations',
      MINUTE,
      createDestinationWatch({ ...counting, sync: parts.destinationSync, allow: config.webhookAllow }),
    ),
    // Lists are sorted by what this job moves.
    toJob('move new clicks into links', MINUTE, () => moveNewClicks(db)),
    toJob('close days', { every: HOUR, first: 5 * MINUTE }, () => closeDays({ ...parts, hitRetentionDays })),
    // Each verified domain once a day, and new ones more often.
    toJob('look at the DNS of domains', 10 * MINUTE, () => recheckDomains(verification)),
    toJob('close names of browsers', { every: DAY, first: MINUTE }, () => closeClientNames(db)),
    toJob('fold search texts', { every: DAY, first: MINUTE }, async () => {
      await foldSearchTexts(db)
      await foldSubmissionTexts(db)
    }),
    toJob('fail imports of lost servers', { every: 10 * MINUTE, first: 5 * SECOND }, imports.failAbandoned),
    toJob('prune submissions', { every: HOUR, first: 2 * MINUTE }, parts.submissionPruner.run),
    toJob('prune misses', HOUR, () =>
      pruneMisses({ db, now: now(), since: toRetentionStart(now(), hitRetentionDays) }),
    ),
    toJob('prune changes', MINUTE, () => pruneChanges(db)),
    ...PRUNERS.map(([name, everyMs, prune]) => toJob(name, everyMs, () => prune(db, now()))),
  ]
}

const PRUNERS: [name: string, everyMs: number, prune: (db: Database, now: number) => Promise<void>][] = [
  ['prune idempotency keys', HOUR, pruneIdempotencyKeys],
  ['prune rate windows', 10 * MINUTE, pruneRateWindows],
  ['prune captcha tokens', 10 * MINUTE, pruneSpentTokens],
  ['prune sessions', HOUR, pruneSessions],
  ['prune invitations', HOUR, pruneInvitations],
  ['prune mail counts', DAY, pruneMailCounts],
  ['prune audit log', HOUR, pruneAudit],
  ['prune delivery attempts', HOUR, pruneAttempts],
  ['prune form attempts', HOUR, pruneFormAttempts],
  ['prune replies', HOUR, pruneReplies],
  ['prune the trash of links', HOUR, pruneTrash],
  ['prune rows of imports', HOUR, pruneImportRows],
]

/** Under a lease as long as the period of the job. */
const onOneNode = ({ cluster }: JobParts, { run, ...job }: Job): Job => ({
  ...job,
  run: () =>
    cluster.runAlone(job.name, job.everyMs, async () => {
      await run()
    }),
})

/** Starts all jobs. A job never overlaps itself. A failed run is logged, and the job runs again a minute later. */
export function startJobs(config: Config, parts: JobParts): { stop(): Promise<void> } {
  const running = new Set<Promise<void>>()
  const timers = new Map<string, Timer>()
  let stopped = false

  function schedule(job: Job, inMs: number) {
    if (!stopped) timers.set(job.name, setTimeout(runJob, inMs, job))
  }

  function runJob(job: Job) {
    const run = job
      .run()
      .then(() => schedule(job, job.everyMs))
      .catch((error) => {
        log.error('job_failed', { job: job.name, ...describeError(error) })
        schedule(job, MINUTE)
      })
      .finally(() => running.delete(run))
    running.add(run)
  }

  const shared = listClusterJobs(config, parts).map((job) => onOneNode(parts, job))
  for (const job of [...listNodeJobs(config, parts), ...shared]) schedule(job, job.firstMs)
  return {
    async stop() {
      stopped = true
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running)
    },
  }
}
