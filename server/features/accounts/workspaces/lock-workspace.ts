// Lets one transaction at a time work on a workspace, on PostgreSQL. SQLite has one writer anyway.

import type { Connection } from '../../../storage/database/open-database.ts'

/** @returns whether the workspace is still there */
export async function lockWorkspace(connection: Connection, workspaceId: number): Promise<boolean> {
  const row = await connection
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    // Not FOR UPDATE, which would block the foreign key checks of concurrent inserts.
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}
