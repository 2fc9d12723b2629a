// The owner of a missed slug's domain, and the reports of slugs that many people ask for.

import type { Kysely } from 'kysely'
import type { DatabaseEngine } from '../../database.ts'
import { getColumnTypes } from '../columns.ts'

export function missing(engine: DatabaseEngine) {
  const { bigint, text } = getColumnTypes(engine)

  return {
    async up(db: Kysely<unknown>) {
      // Until now all misses were on the default domain.
      await db.schema
        .alterTable('misses')
        .addColumn('workspace_id', bigint, (c) => c.notNull().defaultTo(0))
        .execute()
      await db.schema.alterTable('workspaces').addColumn('missing_report_above', bigint).execute()
      await db.schema
        .createTable('missing_reports')
        .addColumn('workspace_id', bigint, (c) => c.notNull().references('workspaces.id').onDelete('cascade'))
        .addColumn('domain', text, (c) => c.notNull())
        .addColumn('slug', text, (c) => c.notNull())
        .addColumn('reported_at', bigint, (c) => c.notNull())
        .addPrimaryKeyConstraint('missing_reports_key', ['workspace_id', 'domain', 'slug'])
        .execute()
    },
  }
}
