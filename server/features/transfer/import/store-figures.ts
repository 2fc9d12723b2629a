// Stores what became of the rows of a batch, and adds them to the figures of the import.

import { sql } from 'kysely'
import type { Connection } from '../../../storage/database/open-database.ts'
import type { RecordOutcome } from '../workspace/archive-import.ts'
import { type ImportRun, updateRun } from './import-run.ts'

export interface StoredRow {
  row: number
  outcome: RecordOutcome
}

export const plus = (column: 'position' | 'created' | 'renamed' | 'skipped' | 'failed', count: number) =>
  sql`${sql.ref(column)} + ${count}` as never

export async function storeFigures(
  connection: Connection,
  run: ImportRun,
  rows: StoredRow[],
  position?: never,
): Promise<void> {
  const { id: import_id, workspace_id } = run.row
  const count = (...outcomes: RecordOutcome['outcome'][]) =>
    rows.filter(({ outcome: { outcome } }) => outcomes.includes(outcome)).length
  await updateRun(connection, run, 'links', {
    ...(position === undefined ? {} : { position }),
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
