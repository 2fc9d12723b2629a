// Lists the tables of a SQLite file, each after the tables that it refers to. The list comes from the file, so it includes
// tables of new migrations.

import type { Database } from 'bun:sqlite'

export interface SourceTable {
  name: string
  columns: string[]
  /** The columns of the primary key, in its order. Rows are read, written and hashed in this order. */
  key: string[]
  /** The highest id that a row has or had. Undefined if ids do not come from the database. */
  lastId: number | undefined
}

/** Tables whose rows are meaningless in another database, each with the reason. */
export const TABLES_LEFT_OUT: Record<string, string> = {
  move_steps: 'the progress of the copy itself',
  leases: 'a right of a process that has ended',
  nodes: 'heartbeats of a process that has ended',
  rate_windows: 'counts of some minutes, which SQLite does not have',
  rate_limits: 'counts of some minutes, which SQLite does not have',
  changes: 'news for processes that follow them, and none runs',
}
/** Tables whose first rows a migration inserts. The copy replaces them. */
export const TABLES_WITH_FIRST_ROWS: readonly string[] = ['instance', 'changes']
export const TOOL_TABLES = /^(sqlite_|kysely_)/

export function listSourceTables(source: Database): SourceTable[] {
  const names = source
    .query<{ name: string }, []>("select name from sqlite_schema where type = 'table' order by name")
    .all()
    .map(({ name }) => name)
    .filter((name) => !TOOL_TABLES.test(name) && !(name in TABLES_LEFT_OUT))
  return sortByReferences(source, names).map((name) => describeTable(source, name))
}

/** @throws if tables refer to each other in a circle, which no migration creates */
function sortByReferences(source: Database, names: string[]): string[] {
  const references = new Map(names.map((name) => [name, listReferences(source, name)]))
  const sorted: string[] = []
  while (references.size > 0) {
    const ready = [...references].filter(([, to]) => to.every((other) => !references.has(other)))
    if (ready.length === 0)
      throw new Error(`Tables refer to each other: ${[...references.keys()].join(', ')}`)
    for (const [name] of ready) {
      sorted.push(name)
      references.delete(name)
    }
  }
  return sorted
}

const listReferences = (source: Database, name: string): string[] =>
  source
    .query<{ table: string }, [string]>('select "table" from pragma_foreign_key_list(?)')
    .all(name)
    .map(({ table }) => table)
    .filter((other) => other !== name)

function describeTable(source: Database, name: string): SourceTable {
  const columns = source
    .query<{ name: string; pk: number }, [string]>('select name, pk from pragma_table_info(?)')
    .all(name)
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  if (key.length === 0) throw new Error(`The table ${name} has no primary key`)
  return {
    name,
    columns: columns.map((column) => column.name),
    key: key.map((column) => column.name),
    lastId: readLastId(source, name),
  }
}

/** SQLite stores the highest id of each table with AUTOINCREMENT, also of deleted rows, so no id is used twice. */
function readLastId(source: Database, name: string): number | undefined {
  const { sql } = source
    .query<{ sql: string }, [string]>("select sql from sqlite_schema where type = 'table' and name = ?")
    .get(name) ?? { sql: '' }
  if (!/\bautoincrement\b/i.test(sql)) return undefined
  return (
    source.query<{ seq: number }, [string]>('select seq from sqlite_sequence where name = ?').get(name)
      ?.seq ?? 0
  )
}

export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`
export const quoteNames = (names: string[]) => names.map(quoteName).join(', ')
