// Named sets of UTM values of a workspace.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { getColumnTypes, ofWorkspace } from './columns.ts'

export const utmTemplates = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await table(db, 'utm_templates')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('name_key', text, (c) => c.notNull())
      .addColumn('utm_source', text)
      .addColumn('utm_medium', text)
      .addColumn('utm_campaign', text)
      .addColumn('utm_term', text)
      .addColumn('utm_content', text)
      .addColumn('created_at', bigint, (c) => c.notNull())
      .addColumn('updated_at', bigint, (c) => c.notNull())
      .execute()
    await sql`create unique index utm_templates_by_name on utm_templates (workspace_id, name_key)`.execute(db)
    await sql`create index utm_templates_by_creation on utm_templates (workspace_id, created_at, id)`.execute(
      db,
    )
  },
})
