// Moves the rows from SQLite to PostgreSQL, while no server runs: a transaction a table, then a comparison of each.

import { type CopySource, openCopySource } from '../../storage/database/copy/copy-source.ts'
import { copyTable, digestSource, digestTarget } from '../../storage/database/copy/copy-table.ts'
import { emptyTables } from '../../storage/database/copy/copy-target.ts'
import type { MoveLog } from '../../storage/database/copy/move-log.ts'
import type { TableDigest } from '../../storage/database/copy/row-digest.ts'
import { listSourceTables, type SourceTable } from '../../storage/database/copy/source-tables.ts'
import type { Connection } from '../../storage/database/open-database.ts'
import { toSqlitePath } from '../../storage/database/open-reader.ts'
import type { ProgressBar } from '../progress-bar.ts'

export interface RowMoveNeeds {
  dataDir: string
  target: Connection
  log: MoveLog
  progress: ProgressBar
  signal: AbortSignal
}

const TABLE_STEPS = 'table:'
const toStep = ({ name }: SourceTable) => TABLE_STEPS + name

/** @returns how many rows there are @throws an error that names the first table that differs */
export async function moveRows(needs: RowMoveNeeds): Promise<{ rows: number; tables: number }> {
  const source = openCopySource(toSqlitePath(needs.dataDir))
  try {
    const tables = listSourceTables(source)
    const digests: TableDigest[] = []
    for (const [i, table] of tables.entries()) {
      needs.progress.at((0.6 * i) / tables.length, `rows: ${table.name}`)
      digests.push(await moveTable(needs, source, table))
    }
    for (const [i, table] of tables.entries()) {
      needs.signal.throwIfAborted()
      needs.progress.at(0.6 + (0.4 * i) / tables.length, `compared: ${table.name}`)
      compareTables(table, digests[i] as TableDigest, await digestTarget(needs.target, table))
    }
    return { rows: digests.reduce((sum, { rows }) => sum + rows, 0), tables: tables.length }
  } finally {
    source.close()
  }
}

/** A table that an earlier run has copied is read again here, and compared like the others. */
async function moveTable(needs: RowMoveNeeds, source: CopySource, table: SourceTable): Promise<TableDigest> {
  const { target, log, signal } = needs
  signal.throwIfAborted()
  if (await log.find(toStep(table))) return digestSource(source, table)
  return copyTable(source, target, table, {
    onRows: () => signal.throwIfAborted(),
    onCopied: (transaction, digest) => log.note(toStep(table), digest, transaction),
  })
}

function compareTables({ name }: SourceTable, source: TableDigest, copy: TableDigest): void {
  if (source.rows !== copy.rows)
    throw new Error(
      `The table ${name} has ${source.rows} rows in SQLite and ${copy.rows} in PostgreSQL. ${TO_BEGIN_AGAIN}`,
    )
  if (source.hash !== copy.hash)
    throw new Error(`The rows of the table ${name} differ between SQLite and PostgreSQL. ${TO_BEGIN_AGAIN}`)
}

export const TO_BEGIN_AGAIN =
  'Another program has changed the new database. Create an empty one, and run the command with that.'

/** For a server that has run again since: the rows are copied from the beginning. */
export async function undoRows({ dataDir, target, log }: RowMoveNeeds): Promise<void> {
  const source = openCopySource(toSqlitePath(dataDir))
  try {
    await emptyTables(target, listSourceTables(source))
  } finally {
    source.close()
  }
  await log.undo(TABLE_STEPS)
}
