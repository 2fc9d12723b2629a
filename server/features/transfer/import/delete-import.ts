// Requests the undo of an import, or cancels one that waits or runs. The runner does the work.

import { Failure } from '../../../lib/failure.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { recordAudit } from '../../accounts/audit/record-audit.ts'
import { UNDO_DAYS } from '../schema.ts'
import type { CreateNeeds } from './create-import.ts'
import { getImport } from './find-imports.ts'
import { getUndoEnd, type ImportRow, readOptions } from './import-row.ts'
import { removeUnneededUpload } from './prune-imports.ts'

/** @throws Failure `not_found`, `forbidden`; `conflict` if the import can no longer be undone */
export async function deleteImport(needs: CreateNeeds, actor: Actor, id: number): Promise<void> {
  allow(actor, 'links:write')
  const { db, now, node, wakeRunner } = needs
  const unneeded = await db.write(async (connection) => {
    const row = await getImport(connection, actor, id)
    const at = now()
    requireUndoable(row, at)
    // Nothing was created: no undo is needed.
    const isNothingThere = row.status === 'queued' || (row.dry_run === 1 && row.status !== 'running')
    const changes = isNothingThere
      ? { status: 'undone', undone_at: at, finished_at: row.finished_at ?? at }
      : // The node that runs an import also undoes it.
        {
          status: 'running',
          stage: 'undo',
          position: 0,
          total: null,
          node: row.status === 'running' ? row.node : node,
        }
    const { numUpdatedRows } = await connection
      .updateTable('imports')
      .set(changes)
      .where('workspace_id', '=', actor.workspaceId)
      .where('id', '=', id)
      .where('status', '=', row.status)
      .where('stage', '=', row.stage)
      .executeTakeFirst()
    if (Number(numUpdatedRows) === 0)
      throw new Failure('conflict', 'The import has changed just now. Look at it again.')
    const target = { type: 'import', id, name: row.file_name ?? row.source } as const
    await recordAudit(connection, actor, { action: 'import.undone', target }, at)
    // The sweep of another node deletes its own files.
    return isNothingThere && row.node === node ? readOptions(row).directory : undefined
  })
  if (unneeded !== undefined) await removeUnneededUpload(needs, unneeded)
  wakeRunner()
}

function requireUndoable(row: ImportRow, at: number): void {
  if (row.status === 'undone') throw new Failure('conflict', 'The import is undone already')
  if (row.status === 'running' && row.stage === 'undo')
    throw new Failure('conflict', 'The import is being undone already')
  const end = getUndoEnd(row)
  if (end !== null && at > end)
    throw new Failure('conflict', `An import can be undone for ${UNDO_DAYS} days. Delete its links by hand.`)
}
