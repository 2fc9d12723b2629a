// Tells the caches of a running server which links and workspaces the operator has suspended or restored. The command
// line is another process, and on SQLite the cache of links has no other way to learn of it.

import type { Database } from '../../storage/database/open-database.ts'

export interface SuspensionFollowerNeeds {
  db: Database
  invalidateLink(domain: string, slug: string): void
  invalidateWorkspace(workspaceId: number): void
}

// A command writes one row. More than this at once comes with the next run.
const AT_ONCE = 500

/**
 * Create it before the caches have entries. On SQLite the ids of changes grow in the order of their commits. On
 * PostgreSQL a change may be skipped, and the cache reads each link again after two seconds anyway.
 * @returns the job
 */
export async function createSuspensionFollower(needs: SuspensionFollowerNeeds): Promise<() => Promise<void>> {
  const { db } = needs
  const { newest } = await db.read
    .selectFrom('suspension_changes')
    .select((e) => e.fn.max('id').as('newest'))
    .executeTakeFirstOrThrow()
  let followed = Number(newest ?? 0)
  return async () => {
    const changes = await readChanges(db, followed)
    for (const { id, kind, target_id, domain, slug } of changes) {
      if (kind === 'workspace') needs.invalidateWorkspace(target_id)
      else if (domain !== null && slug !== null) needs.invalidateLink(domain, slug)
      followed = id
    }
  }
}

const readChanges = (db: Database, after: number) =>
  db.read
    .selectFrom('suspension_changes')
    .leftJoin('links', (join) =>
      join.onRef('links.id', '=', 'suspension_changes.target_id').on('suspension_changes.kind', '=', 'link'),
    )
    .select(['suspension_changes.id', 'kind', 'target_id', 'links.domain', 'links.slug'])
    .where('suspension_changes.id', '>', after)
    .orderBy('suspension_changes.id')
    .limit(AT_ONCE)
    .execute()
