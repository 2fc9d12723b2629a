// The database's clock, by which all nodes agree on who is silent and which lease has ended.

import { sql } from 'kysely'

/** Epoch milliseconds on PostgreSQL. It goes on within a transaction. */
export const DATABASE_CLOCK = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`
