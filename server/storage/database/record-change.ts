// Tells all processes that a transaction changes a link or a workspace. This is the only way to void what the caches
// hold: the commit announces the change in this process, and stores a row that the others follow (docs/adr/0032).

import type { Database } from 'bun:sqlite'
import type { Change, OnCommit } from './database.ts'

/**
 * Call it in the transaction that makes the change. The database stores the rows of a transaction in one statement, right
 * before its commit.
 */
export function recordChange(onCommit: OnCommit, ...changes: Change[]): void {
  for (const change of changes) onCommit(change)
}

/** [domain, slug_key, workspace_id] */
const toRow = (change: Change) =>
  'workspaceId' in change ? [null, null, change.workspaceId] : [change.domain, change.slugKey, null]

export function insertChangesIntoSqlite(database: Database, changes: Change[]): void {
  if (changes.length === 0) return
  database
    .query(
      `insert into changes (domain, slug_key, workspace_id)
      select value ->> 0, value ->> 1, value ->> 2 from json_each(?)`,
    )
    .run(JSON.stringify(changes.map(toRow)))
}

/**
 * The statement for PostgreSQL, without parameters: COMMIT follows in the same message, and such a message has none. The
 * values are written in hexadecimal digits, so that no text of a value is a part of the SQL.
 * @returns undefined without changes
 */
export function toInsertChangesText(changes: Change[]): string | undefined {
  if (changes.length === 0) return undefined
  const hex = Buffer.from(JSON.stringify(changes.map(toRow))).toString('hex')
  return `insert into changes (domain, slug_key, workspace_id)
    select each ->> 0, each ->> 1, (each ->> 2)::bigint
    from json_array_elements(convert_from(decode('${hex}', 'hex'), 'UTF8')::json) as each`
}
