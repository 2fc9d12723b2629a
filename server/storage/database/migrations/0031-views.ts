// Saved views of analytics with their shares, and links whose preview page shows their clicks.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, fromZero, getColumnTypes, ofWorkspace } from './columns.ts'

export const views = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await table(db, 'views')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('user_id', bigint, (c) => c.references('users.id').onDelete('set null'))
      .addColumn('name', text, (c) => c.notNull())
      .addColumn('filters', text, (c) => c.notNull())
      .addColumn('interval_name', text)
      .addColumn('range_start', text)
      .addColumn('range_end', text)
      .addColumn('timezone', text, (c) => c.notNull())
      .addColumn('model', text, (c) => c.notNull())
      .addColumn('share_token', text)
      .addColumn('share_password_hash', text)
      .addColumn('share_expires_at', bigint)
      .addColumn('share_leads_shown', 'integer', fromZero)
      .addColumn('embed', text, (c) => c.notNull().defaultTo('[]'))
      .addColumn('created_at', bigint, (c) => c.notNull())
      .addColumn('updated_at', bigint, (c) => c.notNull())
      .execute()
    await sql`create index views_by_creation on views (workspace_id, created_at, id)`.execute(db)
    await sql`create unique index views_by_share on views (share_token) where share_token is not null`.execute(
      db,
    )
    await addColumns(db, 'links', ['public_stats'], 'integer', fromZero)
  },
})
