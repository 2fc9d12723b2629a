// The words of a table's columns that differ between the engines.

import type { ColumnDataType, Kysely, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'

export function getColumnTypes(engine: DatabaseEngine) {
  const postgres = engine === 'postgres'
  const bigint: ColumnDataType = postgres ? 'bigint' : 'integer'
  // Byte order, so that sorting and cursors agree between the engines and with JavaScript.
  const text: ColumnDataType | RawBuilder<unknown> = postgres ? sql`text collate "C"` : 'text'
  return {
    postgres,
    bigint,
    text,
    /** With an id that the database gives out. */
    table(db: Kysely<unknown>, name: string) {
      const builder = db.schema.createTable(name)
      // AUTOINCREMENT: an id that was given out is never given out again, or a new link would inherit old clicks.
      return postgres
        ? builder.addColumn('id', 'bigint', (c) => c.primaryKey().generatedByDefaultAsIdentity())
        : builder.addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
    },
  }
}
