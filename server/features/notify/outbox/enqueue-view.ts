// Stores the deliveries of reports and alerts of views: a report once for each view and period, an alert once for the view and
// its hours, and at most twice a day.

import type { Connection } from '../../../storage/database/open-database.ts'
import { insertDeliveries, type NewDelivery, VIEW_ALERT, VIEW_REPORT } from './enqueue-deliveries.ts'

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

const PER_DAY = 2

interface NewAlert {
  workspaceId: number
  viewId: number
  /** Disabled and deleted channels are skipped. */
  channelIds: number[]
  /** The end of the hours that it is about. */
  windowEnd: number
  /** When the day of the view's time zone began. */
  dayStart: number
  /** JSON of `AlertContent`. */
  content: string
  at: number
}

/** @returns false where the hours are told already, or the day has its alerts. The caller must wake the deliverer after the commit. */
export async function enqueueAlert(connection: Connection, alert: NewAlert): Promise<boolean> {
  const { workspaceId, viewId, channelIds, windowEnd, dayStart, content, at } = alert
  const { told } = await connection
    .selectFrom('view_alerts')
    .select((e) => e.fn.countAll<number>().as('told'))
    .where('workspace_id', '=', workspaceId)
    .where('view_id', '=', viewId)
    .where('created_at', '>=', dayStart)
    .executeTakeFirstOrThrow()
  if (Number(told) >= PER_DAY) return false
  const row = await connection
    .insertInto('view_alerts')
    .values({ workspace_id: workspaceId, view_id: viewId, window_end: windowEnd, created_at: at })
    .onConflict((conflict) => conflict.columns(['view_id', 'window_end']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!row) return false
  const about = { event: VIEW_ALERT, payload: content }
  await enqueueToChannels(connection, { workspaceId, channelIds, at }, about)
  return true
}

/**
 * To channels that a view names. Disabled and deleted channels are skipped.
 * @returns false where no channel is left
 */
async function enqueueToChannels(
  connection: Connection,
  { workspaceId, channelIds, at }: { workspaceId: number; channelIds: number[]; at: number },
  about: Pick<NewDelivery, 'event' | 'payload' | 'report_id'>,
): Promise<boolean> {
  if (channelIds.length === 0) return false
  const channels = await connection
    .selectFrom('channels')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('id', 'in', channelIds)
    .where('enabled', '=', 1)
    .execute()
  if (channels.length === 0) return false
  const deliveries = channels.map(({ id }) => ({
    ...about,
    workspace_id: workspaceId,
    submission_id: null,
    channel_id: id,
  }))
  await insertDeliveries(connection, deliveries, at)
  return true
}
