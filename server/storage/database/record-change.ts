// Announces a change of a link or a workspace to all processes. This is the only way to invalidate cache entries: the
// commit announces the change in this process, and stores a row that other processes read (docs/adr/0032).

import type { Database } from 'bun:sqlite'
import type { Change, OnCommit } from './database.ts'

/**
 * Call it in the transaction that makes the change. The database stores the rows of a transaction in one statement, right
 * before its commit.
 */
export function recordChange(onCommit: OnCommit, ...changes: Change[]): void {
  for (const change of changes) onCommit(change)
}

/** [domain, slug_key, workspace_id], for SQLite's JSON functions. */
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
 * The statement for PostgreSQL. It has no parameters, because it shares its message with COMMIT.
 * @returns undefined without changes
 */
export function toInsertChangesText(changes: Change[]): string | undefined {
  if (changes.length === 0) return undefined
  const rows = changes.map((change) =>
    'workspaceId' in change
      ? `(null, null, ${BigInt(change.workspaceId)})`
      : `(${toTextLiteral(change.domain)}, ${toTextLiteral(change.slugKey)}, null)`,
  )
  return `insert into changes (domain, slug_key, workspace_id) values ${rows.join(', ')}`
}

/**
 * Writes each UTF-16 unit as four hexadecimal digits, so that no letter of the text can be SQL
 * (https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-UESCAPE).
 */
function toTextLiteral(text: string): string {
  let escaped = ''
  for (let i = 0; i < text.length; i++) escaped += `\\${text.charCodeAt(i).toString(16).padStart(4, '0')}`
  return `U&'${escaped}'`
}
