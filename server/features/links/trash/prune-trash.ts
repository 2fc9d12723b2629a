// Purges links that have been in the trash for 30 days: their slugs are free again.

import type { Database } from '../../../storage/database/open-database.ts'
import { purgeDeletedBefore } from './empty-trash.ts'
import { TRASH_MS } from './trashed-link.ts'

/** One workspace after the other. */
export async function pruneTrash(db: Database, now: number): Promise<void> {
  const before = now - TRASH_MS
  let next = await findWorkspace(db, 0, before)
  while (next !== undefined) {
    const system = { kind: 'system', workspaceId: next } as const
    await purgeDeletedBefore({ db, now: () => now }, system, before)
    next = await findWorkspace(db, next, before)
  }
}

/** The first workspace after this one with due links. */
async function findWorkspace(db: Database, after: number, before: number): Promise<number | undefined> {
  const row = await db.read
    .selectFrom('links')
    .select('workspace_id')
    .where('workspace_id', '>', after)
    .where('deleted_at', '<', before)
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
    .where('suspended_at', 'is', null)
    .orderBy('workspace_id')
    .limit(1)
    .executeTakeFirst()
  return row?.workspace_id
}
