// The column types that differ between the engines.

import type { ColumnDataType, Kysely, RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'

export type ColumnTypes = ReturnType<typeof getColumnTypes>

export function getColumnTypes(engine: DatabaseEngine) {
  const postgres = engine === 'postgres'
  const bigint: ColumnDataType = postgres ? 'bigint' : 'integer'
  // Byte order makes both engines and JavaScript sort alike, which cursors rely on.
  const text: ColumnDataType | RawBuilder<unknown> = postgres ? sql`text collate "C"` : 'text'
  return {
    postgres,
    bigint,
    text,
    /** Creates a table whose ids come from the database. */
    table(db: Kysely<unknown>, name: string) {
      const builder = db.schema.createTable(name)
      // AUTOINCREMENT never uses an id twice. With a reused id, a new link would have the clicks of a deleted one.
      return postgres
        ? builder.addColumn('id', 'bigint', (c) => c.primaryKey().generatedByDefaultAsIdentity())
        : builder.addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
    },
  }
}
