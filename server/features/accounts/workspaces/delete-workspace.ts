// Deletes a workspace with everything in it.

import { notFound } from '../../../lib/failure.ts'
import type { Connection, Database } from '../../../storage/database/open-database.ts'
import { recordChange } from '../../../storage/database/record-change.ts'

export interface WorkspaceContents {
  id: number
  publicId: string
  name: string
  links: number
  tags: number
  keys: number
}

/** Counts of the rows that a deletion removes, besides the clicks. @throws Failure `not_found` */
export function getWorkspaceContents({ db }: { db: Database }, id: number): Promise<WorkspaceContents> {
  return countContents(db.read, id)
}

/**
 * Deletes the workspace and all its rows in one transaction. The row in `erasures` makes every server remove
 * the clicks of the workspace. A deleted workspace cannot be restored. @throws Failure `not_found`
 */
export function deleteWorkspace(
  { db, now }: { db: Database; now: () => number },
  id: number,
): Promise<WorkspaceContents> {
  return db.write(async (connection, onCommit) => {
    const contents = await countContents(connection, id)
    // Keys, links, tags and all other rows are deleted by "on delete cascade".
    await connection.deleteFrom('workspaces').where('id', '=', id).execute()
    await connection.insertInto('erasures').values({ workspace_id: id, requested_at: now() }).execute()
    recordChange(onCommit, { workspaceId: id })
    return contents
  })
}

async function countContents(connection: Connection, id: number): Promise<WorkspaceContents> {
  const workspace = await connection
    .selectFrom('workspaces')
    .select(['id', 'public_id as publicId', 'name'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!workspace) throw notFound('Workspace')
  const count = async (table: 'links' | 'tags' | 'api_keys') => {
    const { n } = await connection
      .selectFrom(table)
      .select((e) => e.fn.countAll<number>().as('n'))
      .where('workspace_id', '=', id)
      .executeTakeFirstOrThrow()
    return Number(n)
  }
  return {
    ...workspace,
    links: await count('links'),
    tags: await count('tags'),
    keys: await count('api_keys'),
  }
}
