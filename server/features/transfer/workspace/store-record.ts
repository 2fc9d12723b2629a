// Stores one record of an archive. An invalid record is a failed row, and stores nothing.

import { Failure } from '../../../lib/failure.ts'
import { allow } from '../../accounts/access/actor.ts'
import type { RecordBatch, RecordReading } from '../archive/read-archive-records.ts'
import type { ArchiveRecord, RecordFileName } from '../archive/record-schemas.ts'
import type { RowKind } from '../schema.ts'
import { type RecordOutcome, type RecordTransaction, toFailed } from './archive-import.ts'
import { storeAnalyticsRecord } from './store-analytics-record.ts'
import { storeAttempts, storeMiss } from './store-count-records.ts'
import { storeLinkRecord } from './store-link-record.ts'
import { storeChannel, storeDomain, storeForm, storeTag } from './store-settings.ts'
import { storeSubmissionRecord } from './store-submission-record.ts'
import { storeUtmTemplate } from './store-utm-template.ts'
import { storeView } from './store-view.ts'

interface RecordKind<Name extends RecordFileName> {
  /** Undefined for counts, which have no rows in the list of the import. */
  kind?: RowKind
  store(transaction: RecordTransaction, record: ArchiveRecord<Name>): Promise<RecordOutcome | undefined>
}

const KINDS: { [Name in RecordFileName]: RecordKind<Name> } = {
  'tags.ndjson': { kind: 'tag', store: storeTag },
  'domains.ndjson': { kind: 'domain', store: storeDomain },
  'channels.ndjson': { kind: 'channel', store: storeChannel },
  'forms.ndjson': { kind: 'form', store: storeForm },
  'links.ndjson': { kind: 'link', store: storeLinkRecord },
  'attempts.ndjson': { store: (transaction, record) => storeAttempts(transaction, record).then(toNothing) },
  'submissions.ndjson': { kind: 'submission', store: storeSubmissionRecord },
  'misses.ndjson': { store: (transaction, record) => storeMiss(transaction, record).then(toNothing) },
  'views.ndjson': { kind: 'view', store: storeView },
  'utm-templates.ndjson': { kind: 'utmTemplate', store: storeUtmTemplate },
  'settings.ndjson': { kind: 'settings', store: storeAnalyticsRecord },
}

const toNothing = () => undefined

/** The files whose records are rows in the list of the import. */
export const ROW_FILES = (Object.keys(KINDS) as RecordFileName[]).filter(
  (name) => KINDS[name].kind !== undefined,
)

/** @throws Failure `unavailable` */
export async function storeRecord(
  transaction: RecordTransaction,
  file: RecordBatch['file'],
  { record, problem }: RecordReading,
): Promise<RecordOutcome | undefined> {
  allow(transaction.run.actor, 'links:write')
  const { kind, store } = KINDS[file] as RecordKind<RecordFileName>
  const fail = (field: string | null, message: string) =>
    kind && toFailed({ kind, name: null }, { field, message })
  if (!record) return fail(problem?.field ?? null, problem?.message ?? '')
  try {
    return await transaction.db.write((connection, onCommit) =>
      store({ ...transaction, connection, onCommit }, record as never),
    )
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unavailable') throw error
    const [named] = Object.entries(error.detail.errors ?? {})
    return fail(named?.[0] ?? null, named?.[1] ?? error.message)
  }
}
