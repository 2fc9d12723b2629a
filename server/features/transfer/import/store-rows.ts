// Stores one batch of an import in one transaction: its items, the outcome of each row, and the progress of the import.
// After a kill the import continues after the last stored batch. The batch of a dry run is rolled back.

import { sql } from 'kysely'
import type { Connection, OnCommit } from '../../../storage/database/open-database.ts'
import { allow } from '../../accounts/access/actor.ts'
import { FileProblem } from '../files/source-file.ts'
import type { RecordOutcome } from '../workspace/archive-import.ts'
import { type ImportRun, updateRun } from './import-run.ts'

export interface StoredRow {
  row: number
  outcome: RecordOutcome
  /** The item is part of another one, such as a tag of a link, so the figures leave it out. */
  isPart?: true
}

export type StoreItems = (connection: Connection, onCommit: OnCommit) => Promise<StoredRow[]>

/** The problem of a row that its reader has refused without a reason. */
export const UNREADABLE = { field: null, value: null, message: 'The row cannot be read.' }

/**
 * @param count of the records in the batch
 * @param store can run again if the database was unavailable
 * @throws ImportInterrupted, Failure `unavailable`
 */
export async function storeRows(run: ImportRun, count: number, store: StoreItems): Promise<void> {
  allow(run.actor, 'links:write')
  const tried = run.isDryRun ? await tryRows(run, store) : undefined
  await run.needs.db.write(async (connection, onCommit) => {
    // First, because it locks the row of the import, so that an undo waits for this batch.
    await updateRun(connection, run, 'links', { position: plus('position', count) })
    await storeOutcomes(connection, run, tried ?? (await store(connection, onCommit)))
  })
}

/** Stores the items and rolls them back. @returns the outcomes that an import would have */
export async function tryRows({ needs, actor }: ImportRun, store: StoreItems): Promise<StoredRow[]> {
  allow(actor, 'links:write')
  let rows: StoredRow[] = []
  const rollback = new Error('the batch of a dry run')
  await needs.db
    .write(async (connection, onCommit) => {
      rows = await store(connection, onCommit)
      throw rollback
    })
    .catch((error) => {
      if (error !== rollback) throw error
    })
  return rows.map((row) => ({ ...row, outcome: { ...row.outcome, itemId: null, updatedAt: null } }))
}

/** With `onConflict: fail`, one taken slug stops the import before any change. @throws FileProblem */
export function refuseConflict(rows: StoredRow[], word: 'Row' | 'Link'): void {
  const conflict = rows.find(({ outcome }) => outcome.isConflict)
  if (!conflict) return
  const { name, message } = conflict.outcome
  throw new FileProblem(
    `${word} ${conflict.row}: ${name} cannot be created. ${message} Nothing is imported, because onConflict is fail.`,
  )
}

type Figure = 'position' | 'created' | 'renamed' | 'skipped' | 'failed'
const plus = (column: Figure, count: number) => sql`${sql.ref(column)} + ${count}` as never

async function storeOutcomes(connection: Connection, run: ImportRun, rows: StoredRow[]): Promise<void> {
  const { id: import_id, workspace_id } = run.row
  const count = (...outcomes: RecordOutcome['outcome'][]) =>
    rows.filter(({ outcome, isPart }) => !isPart && outcomes.includes(outcome.outcome)).length
  await updateRun(connection, run, 'links', {
    created: plus('created', count('created', 'renamed')),
    renamed: plus('renamed', count('renamed')),
    skipped: plus('skipped', count('skipped')),
    failed: plus('failed', count('failed')),
  })
  if (rows.length === 0) return
  await connection
    .insertInto('import_rows')
    .values(
      rows.map(({ row, outcome: { itemId, updatedAt, isConflict: _, ...outcome } }) => ({
        ...outcome,
        row,
        import_id,
        workspace_id,
        item_id: itemId,
        item_updated_at: updatedAt,
      })),
    )
    .execute()
}
