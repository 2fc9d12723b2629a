// The state of a running import of a workspace's export, and the outcome of each record.

import type { Connection, Database, OnCommit } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import type { SubmittedFile } from '../../forms/uploads/submitted-file.ts'
import type { Uploads } from '../../forms/uploads/uploads.ts'
import type { Site } from '../../links/link.ts'
import type { OnConflict, RowKind, RowOutcome } from '../schema.ts'

/** Facts about a checked archive. Stored with the import. */
export interface ArchiveFacts {
  /** The public id of the exported workspace. */
  publicId: string
  /** The name of the default domain of the exporting server. */
  defaultDomain: string
  /** When the exported workspace was created: its analytics begin then. */
  createdAt: number
}

/** By the id of a submission in the archive; null if the workspace has no space for its files. */
export type ArchiveFilesById = Map<number, SubmittedFile[] | null>

export interface ArchiveImport {
  needs: { db: Database; site: Site; now: () => number; uploads: Pick<Uploads, 'bytesPerWorkspace'> }
  actor: Actor
  importId: number
  archive: ArchiveFacts
  onConflict: OnConflict
  /** A host of the archive → a domain, as typed. */
  domainMap: Record<string, string>
  isDryRun: boolean
  /** Keys and domains that a dry run would have created. */
  dryRunKeys: Set<string>
  /** Files of the submissions of the current batch. */
  files: ArchiveFilesById
  /** A hash of a random password. */
  closedPassword: string
}

/** The transaction of a batch of records. */
export interface RecordTransaction {
  run: ArchiveImport
  /** Its writes are savepoints of the transaction. */
  db: Database
  connection: Connection
  onCommit: OnCommit
}

/** The outcome of a record. */
export interface RecordOutcome {
  kind: RowKind
  outcome: Exclude<RowOutcome, 'kept'>
  name: string | null
  itemId: number | null
  /** `updated_at` of the item. */
  updatedAt: number | null
  field: string | null
  value: string | null
  message: string | null
  /** A slug is taken. */
  isConflict?: boolean
}

type Item = Pick<RecordOutcome, 'kind' | 'name'>

const NOTHING = { itemId: null, updatedAt: null, field: null, value: null, message: null }

export const toCreated = (
  item: Item,
  row: { id: number; updated_at: number | null },
  message: string | null = null,
): RecordOutcome => ({
  ...NOTHING,
  ...item,
  outcome: 'created',
  itemId: row.id,
  updatedAt: row.updated_at,
  message,
})

export const toSkipped = (item: Item, message: string): RecordOutcome => ({
  ...NOTHING,
  ...item,
  outcome: 'skipped',
  message,
})

export const toFailed = (
  item: Item,
  problem: { field: string | null; value?: string | null; message: string },
): RecordOutcome => ({ ...NOTHING, ...item, outcome: 'failed', ...problem })

export const IMPORTED_BEFORE = 'Imported before.'
