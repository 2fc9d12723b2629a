// Suspensions by the operator, of workspaces, people and links: the error messages, and how servers of the previous
// release learn of a suspension.

import { Failure } from '../../../lib/failure.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import type { Connection } from '../../../storage/database/open-database.ts'

export interface SuspensionColumns {
  suspended_at: number | null
  suspended_reason: string | null
}

/** @throws Failure `forbidden`. @param what such as `workspace` */
export function refuseSuspended(what: string, { suspended_at, suspended_reason }: SuspensionColumns): void {
  if (suspended_at === null) return
  const reason = suspended_reason === null ? '' : `: ${suspended_reason}`
  throw new Failure('forbidden', `The operator of this server has suspended this ${what}${reason}`)
}

/**
 * An owner may not delete a workspace with a suspended link: a new link with the same slug would undo the suspension.
 * The operator may. @throws Failure `forbidden`
 */
export async function refuseSuspendedLinks(connection: Connection, workspaceId: number): Promise<void> {
  const link = await connection
    .selectFrom('links')
    .select('slug')
    .where('workspace_id', '=', workspaceId)
    .where('suspended_at', 'is not', null)
    .where('purged_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  if (!link) return
  throw new Failure(
    'forbidden',
    `The operator of this server has suspended the link /${link.slug}: ask the operator to delete the workspace`,
  )
}

/** A link or workspace that was suspended or restored. */
export interface SuspensionChange {
  kind: 'link' | 'workspace'
  id: number
  at: number
}

/**
 * Part of the transaction that suspends or restores. Servers of this release follow `changes` (record-change.ts); the next
 * release drops this function and its table.
 */
export async function recordSuspensionChange(
  connection: Connection,
  { kind, id, at }: SuspensionChange,
): Promise<void> {
  await connection.insertInto('suspension_changes').values({ kind, target_id: id, at }).execute()
  // Servers read the rows within seconds. A server that starts later has no cache.
  await connection
    .deleteFrom('suspension_changes')
    .where('at', '<', at - DAY_MS)
    .execute()
}
