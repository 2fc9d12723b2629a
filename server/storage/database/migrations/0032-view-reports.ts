// Reports of views: the due time of each, and one row for each period with the content of its deliveries.

import { type Kysely, sql } from 'kysely'
import type { DatabaseEngine } from '../database.ts'
import { addColumns, getColumnTypes, ofWorkspace } from './columns.ts'

export const viewReports = (engine: DatabaseEngine) => ({
  async up(db: Kysely<unknown>) {
    const { bigint, text, table } = getColumnTypes(engine)
    await addColumns(db, 'views', ['report'], text)
    await addColumns(db, 'views', ['report_due_at'], bigint)
    await sql`create index views_due on views (report_due_at) where report_due_at is not null`.execute(db)
    await table(db, 'view_reports')
      .addColumn('workspace_id', bigint, ofWorkspace)
      .addColumn('view_id', bigint, (c) => c.notNull().references('views.id').onDelete('cascade'))
      .addColumn('period_start', bigint, (c) => c.notNull())
      .addColumn('content', text, (c) => c.notNull())
      .addColumn('created_at', bigint, (c) => c.notNull())
      .execute()
    await sql`create unique index view_reports_by_period on view_reports (view_id, period_start)`.execute(db)
    await sql`create index view_reports_by_time on view_reports (created_at)`.execute(db)
    await addColumns(db, 'deliveries', ['report_id'], bigint, (c) =>
      c.references('view_reports.id').onDelete('set null'),
    )
    await sql`create index deliveries_by_report on deliveries (report_id) where report_id is not null`.execute(
      db,
    )
  },
})
