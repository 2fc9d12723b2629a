// The operator may suspend workspaces, people and links. What a suspended one is told, and how servers that run learn of
// a suspension: their caches follow the rows that `recordSuspensionChange` writes.

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

/** A change of a link or workspace that the caches of redirects must follow. */
export interface SuspensionChange {
  kind: 'link' | 'workspace'
  id: number
  at: number
}

/** Part of the transaction that suspends or restores. */
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
