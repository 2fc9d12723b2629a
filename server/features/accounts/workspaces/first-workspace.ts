// The first workspace of an installation: its owners operate the server.

import { sql } from 'kysely'
import type { Connection } from '../../../storage/database/open-database.ts'

/** The id of the first workspace, as an expression of a query on workspaces. */
export const FIRST_WORKSPACE = sql<number>`(select min(first.id) from workspaces as first)`

export async function isFirstWorkspace(read: Connection, id: number): Promise<boolean> {
  const row = await read
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', id)
    .where('id', '=', FIRST_WORKSPACE)
    .executeTakeFirst()
  return row !== undefined
}
