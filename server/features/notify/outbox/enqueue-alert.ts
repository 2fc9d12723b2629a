// Stores the deliveries of an alert of a view, once for the view and its hours, and at most twice a day.

import type { Connection } from '../../../storage/database/open-database.ts'
import { enqueueToChannels, VIEW_ALERT } from './enqueue-deliveries.ts'

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
