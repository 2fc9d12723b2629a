// Stores a report of a view with its deliveries, once for each view and period.

import type { Connection } from '../../../storage/database/open-database.ts'
import { enqueueToChannels, VIEW_REPORT } from './enqueue-deliveries.ts'

export interface NewReport {
  workspaceId: number
  viewId: number
  /** Disabled and deleted channels are skipped. */
  channelIds: number[]
  periodStart: number
  /** JSON of `ReportContent`. */
  content: string
  at: number
}

/** @returns false where the period has its report already. The caller must wake the deliverer after the commit. */
export async function enqueueReport(connection: Connection, report: NewReport): Promise<boolean> {
  const { workspaceId, viewId, channelIds, periodStart, content, at } = report
  const row = await connection
    .insertInto('view_reports')
    .values({
      workspace_id: workspaceId,
      view_id: viewId,
      period_start: periodStart,
      content,
      created_at: at,
    })
    .onConflict((conflict) => conflict.columns(['view_id', 'period_start']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!row) return false
  const about = { event: VIEW_REPORT, report_id: row.id }
  return enqueueToChannels(connection, { workspaceId, channelIds, at }, about)
}
