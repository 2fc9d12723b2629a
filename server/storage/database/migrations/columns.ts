// Column types that differ between the engines, and helpers that create tables, columns and indexes.

import type { ColumnBuilderCallback, ColumnDataType, Kysely, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'

export type ColumnTypes = ReturnType<typeof getColumnTypes>

type ColumnType = ColumnDataType | RawBuilder<unknown>

export function getColumnTypes(engine: DatabaseEngine) {
  const postgres = engine === 'postgres'
  const bigint: ColumnDataType = postgres ? 'bigint' : 'integer'
  // Byte order makes both engines and JavaScript sort the same. Cursors rely on it.
  const text: ColumnType = postgres ? sql`text collate "C"` : 'text'
  return {
    postgres,
    bigint,
    text,
    /** Creates a table whose ids come from the database. */
    table(db: Kysely<unknown>, name: string) {
      const builder = db.schema.createTable(name)
      // AUTOINCREMENT never uses an id twice. With a reused id, a new link would get the clicks of a deleted one.
      return postgres
        ? builder.addColumn('id', 'bigint', (c) => c.primaryKey().generatedByDefaultAsIdentity())
        : builder.addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
    },
  }
}

/** Adds columns of one type. Without `build` they are nullable. */
export async function addColumns(
  db: Kysely<unknown>,
  table: string,
  names: string[],
  type: ColumnType,
  build?: ColumnBuilderCallback,
) {
  // SQLite adds one column at a time.
  for (const name of names) await db.schema.alterTable(table).addColumn(name, type, build).execute()
}

export const createIndex = (db: Kysely<unknown>, table: string, name: string, columns: string[]) =>
  db.schema.createIndex(name).on(table).columns(columns).execute()

/** A number that begins at zero. */
export const fromZero: ColumnBuilderCallback = (column) => column.notNull().defaultTo(0)

/** The id of a workspace. The row is deleted with the workspace. */
export const ofWorkspace: ColumnBuilderCallback = (column) =>
  column.notNull().references('workspaces.id').onDelete('cascade')
