// Alerts of views: the next check of each, and one row for the reported hours.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes, ofWorkspace } from './columns.ts'

export const viewAlerts = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await addColumns(db, 'views', ['alert'], text)
    await addColumns(db, 'views', ['alert_due_at'], bigint)
    await sql`create index views_alert_due on views (alert_due_at) where alert_due_at is not null`.execute(db)
    await table(db, 'view_alerts')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('view_id', bigint, (c) => c.notNull().references('views.id').onDelete('cascade'))
      .addColumn('window_end', bigint, (c) => c.notNull())
      .addColumn('created_at', bigint, (c) => c.notNull())
      .execute()
    await sql`create unique index view_alerts_by_hours on view_alerts (view_id, window_end)`.execute(db)
    await sql`create index view_alerts_by_time on view_alerts (created_at)`.execute(db)
  },
})
