// Counts of requests for slugs that no link has, by hour.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes } from './columns.ts'

export function misses(engine: DatabaseEngine) {
  const { bigint, text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('misses')
        .addColumn('domain', text, (c) => c.notNull())
        .addColumn('hour', bigint, (c) => c.notNull())
        .addColumn('slug', text, (c) => c.notNull())
        .addColumn('hits', bigint, (c) => c.notNull())
        .addColumn('visitors', bigint, (c) => c.notNull())
        .addColumn('bots', bigint, (c) => c.notNull())
        .addColumn('last_at', bigint, (c) => c.notNull())
        .addPrimaryKeyConstraint('misses_key', ['domain', 'hour', 'slug'])
        .execute()
      await db.schema.createIndex('misses_by_hour').on('misses').column('hour').execute()
    },
  }
}
