// Checks the alerts that are due each hour, and stores those to tell with their deliveries in one transaction. A unique row
// for the view and its hours lets one node win, however many run.

import { DAY_MS } from '../../../lib/utc-day.ts'
import { enqueueAlert } from '../../notify/outbox/enqueue-view.ts'
import { findAlertHours, findCheckAfterAlert, findNextCheck } from '../alert-schedule.ts'
import { runDueViews, setDue, type ViewJobNeeds } from '../due-views.ts'
import { type AlertSettings, isDifferenceAlert } from '../schema.ts'
import type { ViewRow } from '../view.ts'
import { countAlert } from './count-alert.ts'
import { findSilentLinks } from './find-silent-links.ts'

export async function sendDueAlerts(needs: ViewJobNeeds): Promise<void> {
  const run = (view: ViewRow) => checkAlert(needs, view)
  await runDueViews(needs, {
    column: 'alert_due_at',
    failure: 'alert_failed',
    sent: 'view_alerts',
    // The rows are for the limit of a day, which has 25 hours at most.
    keptMs: 3 * DAY_MS,
    run,
  })
}

async function checkAlert(needs: ViewJobNeeds, view: ViewRow): Promise<void> {
  const alert: AlertSettings = JSON.parse(view.alert ?? 'null')
  const due = findAlertHours(alert.window, view.timezone, needs.now())
  const content = isDifferenceAlert(alert)
    ? await countAlert(needs, view, alert, due)
    : await findSilentLinks(needs, view, alert, due)
  await needs.db.write(async (connection, onCommit) => {
    const at = needs.now()
    const isTold =
      content !== null &&
      (await enqueueAlert(connection, {
        workspaceId: view.workspace_id,
        viewId: view.id,
        channelIds: alert.channelIds,
        windowEnd: due.hours.end,
        dayStart: findDayStart(view.timezone, at),
        content: JSON.stringify(content),
        at,
      }))
    const skips = isTold && isDifferenceAlert(alert)
    const next = skips ? findCheckAfterAlert(alert.window, due.hours) : findNextCheck(view.timezone, at)
    // Links beyond the alerts of a day are told on the next day.
    const isDone = content === null || isTold
    await setDue(connection, view, 'alert_due_at', next, isDone ? { alert_links_until: due.hours.end } : {})
    if (isTold) onCommit(needs.wakeDeliverer)
  })
}

const findDayStart = (zone: string, at: number) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).startOfDay().epochMilliseconds
