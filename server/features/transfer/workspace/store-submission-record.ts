// Stores a submission of an archive with its touches. It notifies nobody, because the old server has sent its notifications.

import { createHash } from 'node:crypto'
import { invalid } from '../../../lib/failure.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import { toDecimalText, toSmallestUnits } from '../../../lib/money/amount.ts'
import { foldMarks } from '../../../lib/text.ts'
import { toClosedName } from '../../../storage/clients/closed-names.ts'
import { insertTouches } from '../../attribution/record-touches.ts'
import { ANNOUNCED } from '../../forms/leads/announced.ts'
import { recordFiles } from '../../forms/uploads/record-files.ts'
import { creditLeads } from '../../links/credit-leads.ts'
import { toCampaignColumns } from '../../visitors/campaign-columns.ts'
import type { ArchiveRecord } from '../archive/record-schemas.ts'
import { toDayVisitor } from '../history/day-visitor.ts'
import {
  IMPORTED_BEFORE,
  type RecordOutcome,
  type RecordTransaction,
  toCreated,
  toFailed,
  toSkipped,
} from './archive-import.ts'
import { hashEditableFields } from './hash-editable-fields.ts'
import { findItems, isFromDryRun, type KnownItem, storeItemKey } from './item-keys.ts'

type SubmissionRecord = ArchiveRecord<'submissions.ndjson'>

export async function storeSubmissionRecord(
  transaction: RecordTransaction,
  record: SubmissionRecord,
): Promise<RecordOutcome> {
  const { run } = transaction
  const item = { kind: 'submission', name: record.email ?? `#${record.id}` } as const
  const before = await findItems(transaction, 'submission', [record.id])
  if (before.size > 0) return toSkipped(item, IMPORTED_BEFORE)
  const forms = await findItems(transaction, 'form', [record.formKey])
  const form = forms.get(record.formKey)
  if (!form) {
    if (isFromDryRun(run, 'form', record.formKey)) return toCreated(item, { id: 0, updated_at: 0 })
    const message = 'Its form was not imported. Import the form first.'
    return toFailed(item, { field: 'formKey', value: record.formKey, message })
  }
  const linkIds = [record, ...record.touches].flatMap(({ linkId }) => linkId ?? [])
  const links = await findItems(transaction, 'link', [...new Set(linkIds)])
  const id = await insertSubmission(transaction, record, form.id, links)
  await storeTouches(transaction, record, id, links)
  const note = joinNotes(
    await storeFiles(transaction, record, id),
    await storeOutcomes(transaction, record, id),
  )
  await storeReplies(transaction, record, id)
  await storeAssignee(transaction, record, id)
  await storeItemKey(transaction, 'submission', record.id, id)
  return toCreated(item, { id, updated_at: hashEditableFields(record) }, note)
}

const joinNotes = (...notes: (string | null)[]) => notes.filter((note) => note !== null).join(' ') || null

/** @returns notes for a person */
async function storeOutcomes(
  { run, connection }: RecordTransaction,
  record: SubmissionRecord,
  submissionId: number,
): Promise<string | null> {
  if (record.outcomes.length === 0) return null
  const now = run.needs.now()
  const rows = record.outcomes.map(({ stage, value, currency, at, externalId, createdAt, updatedAt }) => ({
    workspace_id: run.actor.workspaceId,
    submission_id: submissionId,
    stage,
    currency,
    value:
      value !== null && currency !== null ? toDecimalText(toSmallestUnits(value, currency), currency) : null,
    at: Math.min(at, now),
    external_id: externalId,
    created_at: Math.min(createdAt, now),
    updated_at: Math.min(updatedAt, now),
  }))
  const stored = await connection
    .insertInto('outcomes')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute()
  const left = rows.length - stored.length
  if (left === 0) return null
  return `${left} of its ${rows.length} outcomes have external ids that are in use here, and are left out.`
}

/** Sends nothing. A waiting reply of the old server becomes canceled. */
async function storeReplies(
  { run, connection }: RecordTransaction,
  record: SubmissionRecord,
  submissionId: number,
): Promise<void> {
  if (record.replies.length === 0) return
  const rows = record.replies.map(({ author, subject, text, status, createdAt }) => ({
    workspace_id: run.actor.workspaceId,
    submission_id: submissionId,
    author,
    subject,
    text,
    status: status === 'waiting' ? 'canceled' : status,
    created_at: Math.min(createdAt, run.needs.now()),
  }))
  await connection.insertInto('team_replies').values(rows).execute()
}

/** Assigns the member with the same email address, if this workspace has one. */
async function storeAssignee(
  { run, connection }: RecordTransaction,
  { assignee }: SubmissionRecord,
  submissionId: number,
): Promise<void> {
  if (assignee === null) return
  const { workspaceId } = run.actor
  const member = await connection
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select('users.id')
    .where('members.workspace_id', '=', workspaceId)
    .where('users.email', '=', assignee.toLowerCase())
    .executeTakeFirst()
  if (!member) return
  const row = { submission_id: submissionId, workspace_id: workspaceId, user_id: member.id }
  await connection.insertInto('submission_assignees').values(row).execute()
}

/** @returns notes for a person. @throws Failure `invalid` */
async function storeFiles(
  { run, connection }: RecordTransaction,
  record: SubmissionRecord,
  submissionId: number,
): Promise<string | null> {
  if (run.isDryRun) return null
  const received = run.files.get(record.id)
  const files = received ?? []
  const owner = {
    workspaceId: run.actor.workspaceId,
    submissionId,
    at: Math.min(record.createdAt, run.needs.now()),
  }
  if (
    received === null ||
    !(await recordFiles(connection, owner, files, run.needs.uploads.bytesPerWorkspace))
  )
    throw invalid({ files: 'the workspace has no room for them' })
  const missing = record.files.length - files.length
  if (missing === 0) return null
  return `${missing} of its ${record.files.length} files are not in the export, or are damaged.`
}

const toLinkId = (links: Map<number | string, KnownItem>, id: number | null) =>
  id === null ? null : (links.get(id)?.id ?? null)

async function insertSubmission(
  transaction: RecordTransaction,
  record: SubmissionRecord,
  formId: number,
  links: Map<number | string, KnownItem>,
): Promise<number> {
  const { run, connection } = transaction
  const at = Math.min(record.createdAt, run.needs.now())
  const first = await findItems(
    transaction,
    'submission',
    record.duplicateOf === null ? [] : [record.duplicateOf],
  )
  const { id } = await connection
    .insertInto('submissions')
    .values({
      workspace_id: run.actor.workspaceId,
      form_id: formId,
      fields: orderedJson(record.fields),
      search_text: foldMarks(record.fields.map(([, value]) => value).join('\n')),
      status: record.status,
      spam_reasons: record.spamReasons && JSON.stringify(record.spamReasons),
      consent: record.consent && JSON.stringify(record.consent),
      language: record.language,
      announced: record.test ? ANNOUNCED.test : Number(record.announced && record.status !== 'unconfirmed'),
      announced_at: record.announcedAt,
      notes: record.notes,
      email: record.email,
      // The original input is not known. This hash equals no other submission's.
      fingerprint: createHash('sha256').update(`${run.archive.publicId}|${record.id}`).digest('hex'),
      duplicate_of: record.duplicateOf === null ? null : (first.get(record.duplicateOf)?.id ?? null),
      visitor: record.visitor === null ? null : toDayVisitor(record.visitor, at),
      link_id: toLinkId(links, record.linkId),
      click_id: record.clickId,
      event_id: record.eventId,
      session_linked: Number(record.sessionLinked),
      attribution: record.attribution,
      attribution_due: 0,
      referrer: record.referrer,
      page_url: record.pageUrl,
      landing_url: record.landingUrl,
      ad_click_ids: record.adClickIds && JSON.stringify(record.adClickIds),
      ...toCampaignColumns(record),
      device: toClosedName('device', record.device),
      browser: toClosedName('browser', record.browser),
      os: toClosedName('os', record.os),
      country: record.country,
      region: record.region,
      city: record.city,
      created_at: at,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

async function storeTouches(
  { run, connection, onCommit }: RecordTransaction,
  record: SubmissionRecord,
  id: number,
  links: Map<number | string, KnownItem>,
): Promise<void> {
  const { workspaceId } = run.actor
  const touches = record.touches.map((touch) => ({ ...touch, linkId: toLinkId(links, touch.linkId) }))
  await insertTouches(connection, workspaceId, [{ id, touches }])
  const credited = links.get(record.touches.at(-1)?.linkId ?? 0)
  const isLead = record.duplicateOf === null && !['spam', 'unconfirmed'].includes(record.status)
  // A link of this import already counts its leads.
  if (!credited || !isLead || credited.importId === run.importId) return
  await creditLeads(connection, onCommit, { workspaceId, linkId: credited.id, leads: 1 })
}
