// A delivery knows the request that has caused it: its log lines have the request's id, and its spans a link.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function deliveryRequests(engine: DatabaseEngine) {
  const { text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      for (const name of ['request_id', 'traceparent'])
        await db.schema.alterTable('deliveries').addColumn(name, text).execute()
    },
  }
}
