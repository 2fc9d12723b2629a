// Suspends a workspace: its links answer 451, its forms 403, and its keys and members are refused. Nothing is deleted.
// Only the operator can do this.

import { notFound } from '../../../lib/failure.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'
import { recordSuspensionChange } from '../access/suspension.ts'
import { recordAudit } from '../audit/record-audit.ts'

export interface SuspensionNeeds {
  db: Database
  now: () => number
}

export interface SuspendedWorkspace {
  id: number
  publicId: string
  name: string
  suspended: boolean
  reason: string | null
}

/** Suspends a workspace again with another reason, too. @throws Failure `not_found` */
export const suspendWorkspace = (needs: SuspensionNeeds, id: number, reason: string | null) =>
  setSuspension(needs, id, { suspended_at: needs.now(), suspended_reason: reason })

/** @throws Failure `not_found` */
export const restoreWorkspace = (needs: SuspensionNeeds, id: number) =>
  setSuspension(needs, id, { suspended_at: null, suspended_reason: null })

function setSuspension(
  { db, now }: SuspensionNeeds,
  id: number,
  columns: { suspended_at: number | null; suspended_reason: string | null },
): Promise<SuspendedWorkspace> {
  return db.write(async (connection, onCommit) => {
    const row = await connection
      .updateTable('workspaces')
      .set(columns)
      .where('id', '=', id)
      .returning(['public_id', 'name'])
      .executeTakeFirst()
    if (!row) throw notFound('Workspace')
    const at = now()
    recordChange(onCommit, { workspaceId: id })
    await recordSuspensionChange(connection, { kind: 'workspace', id, at })
    const { suspended_at, suspended_reason: reason } = columns
    const action = suspended_at === null ? 'workspace.restored' : 'workspace.suspended'
    await recordAudit(connection, { kind: 'operator', workspaceId: id }, { action }, at)
    return { id, publicId: row.public_id, name: row.name, suspended: suspended_at !== null, reason }
  })
}
