// Failure reports of channels and deliveries: since when, why, how many attempts, and what was sent.

import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

export function deliveryReports(engine: DatabaseEngine) {
  const { bigint, text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('channels').addColumn('last_error', text).execute()
      await db.schema.alterTable('channels').addColumn('own_failures_since', bigint).execute()
      // Until now, `failing_since` was both: what people are told, and what counts towards switching the channel off.
      await sql`update channels set own_failures_since = failing_since`.execute(db)
      await db.schema.alterTable('deliveries').addColumn('last_error', text).execute()
      for (const name of ['attempts_before', 'interrupted_before']) {
        await db.schema
          .alterTable('deliveries')
          .addColumn(name, 'integer', (c) => c.notNull().defaultTo(0))
          .execute()
      }
      await db.schema.alterTable('delivery_attempts').addColumn('request', text).execute()
    },
  }
}
