// The database's clock. All nodes use it to decide whether a node is silent and whether a lease has ended.

import { type RawBuilder, sql } from 'kysely'
import type { DatabaseEngine } from '../../storage/database/open-database.ts'

/** Epoch milliseconds on PostgreSQL. It advances within a transaction. */
export const DATABASE_CLOCK = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** The same for both engines: the clock of `changes.at`. */
export const DATABASE_NOW: Record<DatabaseEngine, RawBuilder<number>> = {
  sqlite: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  postgres: DATABASE_CLOCK,
}
