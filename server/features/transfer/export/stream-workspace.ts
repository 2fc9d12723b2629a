// Reads the rows of a workspace for its export, in the order of their ids, in short steps of the event loop.

import { type Selectable, sql } from 'kysely'
import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { Tables } from '../../../storage/database/tables.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { hasAnalyticsSettings, readAnalyticsSettings } from '../../accounts/workspaces/analytics-settings.ts'
import { scanSubmissions } from '../../forms/submissions/scan-submissions.ts'
import type { SubmissionNeeds } from '../../forms/submissions/submission.ts'
import { listTeamReplies } from '../../forms/team-replies/list-team-replies.ts'
import { listCountedDomains } from '../../links/domains/counted-domains.ts'
import type { LinkRow } from '../../links/link.ts'
import { readStoredLinks } from '../../links/list.ts'
import { scanAllLinks } from '../../links/scan-links.ts'
import { REPLY_CHANNEL } from '../../notify/outbox/enqueue-reply.ts'
import { type LinkExportNeeds, toLinkRecords } from './export-links.ts'
import { toChannelRecord, toLinkState, toMissRecord, toSubmissionRecord } from './workspace-records.ts'

export interface WorkspaceScan extends LinkExportNeeds, Pick<SubmissionNeeds, 'resolvePendingAttribution'> {
  actor: Actor
  signal: AbortSignal
}

/** Rows per read: a form can have a megabyte of rules and texts, and a domain has some files. */
const ROWS_AT_ONCE = { tags: 100, channels: 100, domains: 10, forms: 1, views: 10, utm_templates: 100 }
type ExportedTable = keyof typeof ROWS_AT_ONCE
const COUNTS_AT_ONCE = 1000

const toLines = (records: unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')

async function* readPages<Row extends { id: number }>(
  { signal }: WorkspaceScan,
  readAfter: (id: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: number | undefined = 0; last !== undefined; ) {
    await takeTurn()
    signal.throwIfAborted()
    const rows = await readAfter(last)
    if (rows.length > 0) yield rows
    last = rows.at(-1)?.id
  }
}

const selectAfter = <Table extends ExportedTable>(
  { db, actor: { workspaceId } }: WorkspaceScan,
  table: Table,
  after: number,
) =>
  db.read
    .selectFrom<ExportedTable>(table)
    .where('workspace_id', '=', workspaceId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(ROWS_AT_ONCE[table])
    .selectAll()
    .$castTo<Selectable<Tables[Table]> & { id: number }>()

/** Streams a table as lines, a record for each row. */
export async function* streamTable<Table extends ExportedTable>(
  scan: WorkspaceScan,
  table: Table,
  toRecord: (row: Selectable<Tables[Table]>) => unknown,
): AsyncGenerator<string> {
  for await (const rows of readPages(scan, (after) => selectAfter(scan, table, after).execute()))
    yield toLines((rows as unknown as Selectable<Tables[Table]>[]).map(toRecord))
}

export async function* streamChannels(scan: WorkspaceScan): AsyncGenerator<string> {
  const select = (after: number) => selectAfter(scan, 'channels', after).where('type', '<>', REPLY_CHANNEL)
  for await (const rows of readPages(scan, (after) => select(after).execute()))
    yield toLines(rows.map(toChannelRecord))
}

/** One record, or none if no setting is set. */
export async function* streamSettings({ db, actor, signal }: WorkspaceScan): AsyncGenerator<string> {
  signal.throwIfAborted()
  const settings = await readAnalyticsSettings(db.read, actor.workspaceId)
  if (hasAnalyticsSettings(settings)) yield toLines([settings])
}

/** Includes links in the trash and permanently deleted ones, because their clicks need a name. */
export async function* streamLinks(scan: WorkspaceScan): AsyncGenerator<string> {
  const { db, actor, signal } = scan
  const all = db.read.selectFrom('links').where('workspace_id', '=', actor.workspaceId)
  for await (const positions of scanAllLinks(db.read, actor, all, signal)) {
    for await (const rows of readStoredLinks(db.read, actor, positions)) {
      signal.throwIfAborted()
      const links = await toLinkRecords(scan, rows)
      yield toLines(links.map((link, index) => ({ ...link, ...toLinkState(rows[index] as LinkRow) })))
    }
  }
}

/** The outcomes of attempts to send a form, by day. */
export async function* streamAttempts(scan: WorkspaceScan): AsyncGenerator<string> {
  const { db, signal } = scan
  for await (const forms of readPages(scan, (after) => selectAfter(scan, 'forms', after).execute())) {
    for (const { id, form_key } of forms) {
      let after = ['', '', '']
      for (let rows = COUNTS_AT_ONCE; rows === COUNTS_AT_ONCE; ) {
        await takeTurn()
        signal.throwIfAborted()
        const counts = await db.read
          .selectFrom('form_attempts')
          .select(['day', 'outcome', 'field', 'attempts'])
          .where('form_id', '=', id)
          .where(sql<boolean>`(day, outcome, field) > (${after[0]}, ${after[1]}, ${after[2]})`)
          .orderBy('day')
          .orderBy('outcome')
          .orderBy('field')
          .limit(COUNTS_AT_ONCE)
          .execute()
        yield toLines(counts.map((count) => ({ formKey: form_key, ...count })))
        const last = counts.at(-1)
        if (last) after = [last.day, last.outcome, last.field]
        rows = counts.length
      }
    }
  }
}

export async function* streamSubmissions(scan: WorkspaceScan, upTo: number): AsyncGenerator<string> {
  const { signal } = scan
  const scope = { needs: { ...scan, origin: scan.site.origin }, actor: scan.actor, by: {} }
  for await (const positions of scanSubmissions(scope, 'asc', { signal, upTo })) {
    signal.throwIfAborted()
    if (positions.length > 0) yield toLines(await readWhole(scan, positions))
  }
  signal.throwIfAborted()
}

async function readWhole({ db, actor: { workspaceId } }: WorkspaceScan, positions: { id: number }[]) {
  const ids = positions.map(({ id }) => id)
  await takeTurn()
  const rows = await db.read
    .selectFrom('submissions')
    .innerJoin('forms', 'forms.id', 'submissions.form_id')
    .selectAll('submissions')
    .select('forms.form_key')
    .where('submissions.id', 'in', ids)
    .where(sql<boolean>`+submissions.workspace_id = ${workspaceId}`)
    .execute()
  await takeTurn()
  const selectParts = <Table extends 'touches' | 'submission_files' | 'outcomes'>(table: Table) =>
    db.read
      .selectFrom<'touches' | 'submission_files' | 'outcomes'>(table)
      .selectAll()
      .where('submission_id', 'in', ids)
      .where(sql<boolean>`+workspace_id = ${workspaceId}`)
      .orderBy('submission_id')
      .$castTo<Selectable<Tables[Table]>>()
  const touches = await selectParts('touches').orderBy(sql.ref('position')).execute()
  const files = await selectParts('submission_files').orderBy(sql.ref('id')).execute()
  const outcomes = await selectParts('outcomes').orderBy(sql.ref('id')).execute()
  const replies = await listTeamReplies(db.read, { workspaceId }, ids)
  const assignees = await db.read
    .selectFrom('submission_assignees')
    .innerJoin('users', 'users.id', 'submission_assignees.user_id')
    .select(['submission_assignees.submission_id', 'users.email'])
    .where('submission_id', 'in', ids)
    .where(sql<boolean>`+workspace_id = ${workspaceId}`)
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  const filesById = Map.groupBy(files, (file) => file.submission_id)
  const touchesById = Map.groupBy(touches, (touch) => touch.submission_id)
  const outcomesById = Map.groupBy(outcomes, (outcome) => outcome.submission_id)
  const repliesById = Map.groupBy(replies, (reply) => reply.submissionId)
  const emailById = new Map(assignees.map((row) => [row.submission_id, row.email]))
  return ids.flatMap((id) => {
    const row = byId.get(id)
    if (!row) return []
    const about = {
      touches: touchesById.get(id) ?? [],
      files: filesById.get(id) ?? [],
      outcomes: outcomesById.get(id) ?? [],
      replies: repliesById.get(id) ?? [],
      assignee: emailById.get(id) ?? null,
    }
    return [toSubmissionRecord(row, about)]
  })
}

/**
 * Requests for unknown slugs on the domains of the workspace. Those of the default domain are in the first workspace of the
 * installation.
 */
export async function* streamMisses(scan: WorkspaceScan): AsyncGenerator<string> {
  const { db, site, actor, signal } = scan
  for (const { domain, holder, since } of await listCountedDomains(db, actor.workspaceId)) {
    let after = { hour: since, slug: '' }
    for (let rows = COUNTS_AT_ONCE; rows === COUNTS_AT_ONCE; ) {
      await takeTurn()
      signal.throwIfAborted()
      const counts = await db.read
        .selectFrom('misses')
        .select(['hour', 'slug', 'hits', 'visitors', 'bots', 'last_at'])
        .where('domain', '=', domain)
        .where('workspace_id', '=', holder)
        .where(sql<boolean>`(hour, slug) > (${after.hour}, ${after.slug})`)
        .orderBy('hour')
        .orderBy('slug')
        .limit(COUNTS_AT_ONCE)
        .execute()
      yield toLines(counts.map((count) => toMissRecord(domain || site.domain, count)))
      after = counts.at(-1) ?? after
      rows = counts.length
    }
  }
}
