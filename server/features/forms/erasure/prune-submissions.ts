// Deletes expired submissions: by the retention of their form, as spam, and as unconfirmed. Works in small steps, so
// that redirects continue.

import { type RawBuilder, sql } from 'kysely'
import type { Metric } from '../../../http/health-and-metrics.ts'
import { cutIntoSteps, takeTurn } from '../../../lib/concurrency/take-turn.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { CONFIRM_WITHIN_MS } from '../replies/reply-links.ts'
import { DEFAULT_SPAM_RETENTION_DAYS } from '../settings/form-defaults.ts'
import { deleteSubmissionRows } from '../submissions/delete-submissions.ts'

/** Forms in one statement: each costs three looks at an index. */
const FORMS_AT_ONCE = 50
/** Overwriting a megabyte takes some 10 ms and blocks redirects on SQLite. */
const ROWS_AT_ONCE = 20
const BYTES_AT_ONCE = 256 * 1024

const REASONS = ['retention', 'spam', 'unconfirmed'] as const
type Reason = (typeof REASONS)[number]
type ByReason<T> = Record<Reason, T>

interface PrunedForm {
  id: number
  workspace_id: number
  form_key: string
  name: string
  /** Submissions created before this are too old; null where they are kept. */
  before: ByReason<number | null>
}

/** Writes status and time as in the index `submissions_held_back`, so that SQLite uses it. */
const isHeldBack = (status: 'spam' | 'unconfirmed') =>
  sql<boolean>`submissions.status in ('spam', 'unconfirmed') and submissions.status = ${sql.lit(status)}`

const HAS_STATUS: ByReason<RawBuilder<boolean>> = {
  retention: sql<boolean>`true`,
  spam: isHeldBack('spam'),
  unconfirmed: isHeldBack('unconfirmed'),
}

export function createSubmissionPruner({ db, now }: { db: Database; now: () => number }) {
  const totals: ByReason<number> = { retention: 0, spam: 0, unconfirmed: 0 }
  return {
    /** One run over all forms. */
    async run(): Promise<void> {
      const at = now()
      for (let after = 0; ; ) {
        await takeTurn()
        const forms = await listForms(db.read, after, at)
        for (const form of forms) await pruneForm(db, form, at, totals)
        const last = forms.at(-1)
        if (!last) return
        after = last.id
      }
    },
    metrics: (): Metric[] =>
      REASONS.map((reason) => ({
        name: 'towpath_submissions_expired_total',
        kind: 'counter',
        help: 'Submissions that this process has deleted because their time was over',
        labels: { reason },
        value: totals[reason],
      })),
  }
}

export type SubmissionPruner = ReturnType<typeof createSubmissionPruner>

async function listForms(connection: Connection, after: number, now: number): Promise<PrunedForm[]> {
  const oldest = (status: RawBuilder<boolean>) =>
    sql<
      number | null
    >`(select min(created_at) from submissions where submissions.form_id = forms.id and ${status})`
  const rows = await connection
    .selectFrom('forms')
    .select(['id', 'workspace_id', 'form_key', 'name', 'retention_days', 'spam_retention_days'])
    .select(REASONS.map((reason) => oldest(HAS_STATUS[reason]).as(reason)))
    .where('id', '>', after)
    .orderBy('id')
    .limit(FORMS_AT_ONCE)
    .execute()
  return rows.map(({ retention_days: days, spam_retention_days: spamDays, ...row }) => {
    const before = {
      retention: days === null ? null : now - days * DAY_MS,
      spam: now - (spamDays ?? DEFAULT_SPAM_RETENTION_DAYS) * DAY_MS,
      unconfirmed: now - CONFIRM_WITHIN_MS,
    }
    const pick = (reason: Reason) => {
      const oldestAt = row[reason]
      const limit = before[reason]
      return oldestAt !== null && limit !== null && oldestAt < limit ? limit : null
    }
    const due = { retention: pick('retention'), spam: pick('spam'), unconfirmed: pick('unconfirmed') }
    return { ...row, before: due }
  })
}

/** The event in the audit log has the deletions, even when an error ends the run. */
async function pruneForm(
  db: Database,
  form: PrunedForm,
  now: number,
  totals: ByReason<number>,
): Promise<void> {
  const counts: ByReason<number> = { retention: 0, spam: 0, unconfirmed: 0 }
  try {
    for (const reason of REASONS) {
      const before = form.before[reason]
      if (before === null) continue
      const isOld = sql<boolean>`${HAS_STATUS[reason]} and submissions.created_at < ${before}`
      const isHeld = reason === 'unconfirmed' ? isAskedSince(now - CONFIRM_WITHIN_MS) : sql<boolean>`false`
      const next = () => deleteNext(db, form, isOld, isHeld)
      for (let deleted = await next(); deleted > 0; deleted = await next()) {
        counts[reason] += deleted
        totals[reason] += deleted
      }
    }
  } finally {
    if (Object.values(counts).some((count) => count > 0)) await recordPruning(db, form, counts, now)
  }
}

/**
 * Whether the mail that asks the sender to confirm still waits, or has left since: the sender's time begins when the mail
 * leaves, and not while the server holds it back.
 */
const isAskedSince = (since: number) => sql<boolean>`exists (select 1 from deliveries
  where deliveries.submission_id = submissions.id
    and +deliveries.workspace_id = submissions.workspace_id and event = 'confirm'
    and (status = 'waiting' or finished_at > ${since}))`

/**
 * Deletes the oldest, up to the first one that is held. Those after it may be of the same mailbox, and its link confirms them
 * too. @returns 0 when none is left
 */
async function deleteNext(
  db: Database,
  { id, workspace_id }: PrunedForm,
  isOld: RawBuilder<boolean>,
  isHeld: RawBuilder<boolean>,
): Promise<number> {
  await takeTurn()
  return db.write(async (connection) => {
    const rows = await connection
      .selectFrom('submissions')
      .select(['id', sql<number>`octet_length(fields)`.as('bytes'), isHeld.as('held')])
      .where('workspace_id', '=', workspace_id)
      .where('form_id', '=', id)
      .where(isOld)
      .orderBy('created_at')
      .limit(ROWS_AT_ONCE)
      .execute()
    const held = rows.findIndex((row) => row.held)
    const [step] = cutIntoSteps(held === -1 ? rows : rows.slice(0, held), BYTES_AT_ONCE)
    if (!step) return 0
    await deleteSubmissionRows(
      connection,
      { workspaceId: workspace_id },
      step.map((row) => row.id),
    )
    return step.length
  })
}

const recordPruning = (db: Database, form: PrunedForm, counts: ByReason<number>, at: number) =>
  db.write((connection) =>
    recordAudit(
      connection,
      { kind: 'system', workspaceId: form.workspace_id },
      {
        action: 'submission.expired',
        target: { type: 'form', id: form.form_key, name: form.name },
        detail: counts,
      },
      at,
    ),
  )
