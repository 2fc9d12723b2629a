// The new links of a view that nobody has clicked in their first hours, for an alert.

import { takeTurn } from '../../../lib/concurrency/take-turn.ts'
import type { TimeRange } from '../../analytics/timeline.ts'
import type { AlertContent } from '../../notify/channels/contract.ts'
import { passesFilter, toLinkFacts } from '../../notify/events/channel-filter.ts'
import { type EventLink, readEventLinks } from '../../notify/events/read-links.ts'
import { type findAlertHours, formatWindow, HOURS, toWindowMs } from '../alert-schedule.ts'
import { formatFigure } from '../chart.ts'
import { countTop } from '../count-view.ts'
import { describeRange } from '../describe-range.ts'
import type { ViewJobNeeds } from '../due-views.ts'
import type { AlertSettings } from '../schema.ts'
import { toViewSettings, type ViewRow } from '../view.ts'
import { toViewSelection, type ViewSelection, type WrittenFilters, withRange } from '../view-selection.ts'

const LINKS_AT_ONCE = 1000
/** Named in the message. */
const LINKS_SHOWN = 20
const LINK_FILTERS = ['linkId', 'tagId', 'domain', 'slug']

/**
 * @returns null where each link whose first hours have ended since the last check has a click
 * @throws Failure `unavailable` when clicks cannot be counted now
 */
export async function findSilentLinks(
  needs: ViewJobNeeds,
  view: ViewRow,
  { window }: AlertSettings,
  { hours: { end } }: ReturnType<typeof findAlertHours>,
): Promise<AlertContent | null> {
  const windowMs = toWindowMs(window)
  const range = { start: (view.alert_links_until ?? end) - windowMs, end }
  const ids = await listNewLinks(needs, view, { ...range, end: end - windowMs })
  const shown: EventLink[] = []
  let count = 0
  for (let from = 0; from < ids.length; from += LINKS_AT_ONCE) {
    await takeTurn()
    const silent = await keepSilent(needs, view, ids.slice(from, from + LINKS_AT_ONCE), range)
    count += silent.length
    shown.push(...silent.slice(0, LINKS_SHOWN - shown.length))
  }
  if (count === 0) return null
  return {
    viewId: view.id,
    ...describeRange(needs, view, range, HOURS),
    when: 'silent',
    window,
    count,
    links: shown.map(({ id, shortUrl }) => ({ id, shortUrl })),
    reason: formatReason(count, shown, window),
  }
}

/** Links that redirect, created after `start` and up to `end`, oldest first. */
async function listNewLinks(
  { db, now }: ViewJobNeeds,
  { workspace_id }: ViewRow,
  { start, end }: TimeRange,
): Promise<number[]> {
  const rows = await db.read
    .selectFrom('links')
    .select('id')
    .where('workspace_id', '=', workspace_id)
    .where('created_at', '>', start)
    .where('created_at', '<=', end)
    .where('archived', '=', 0)
    .where('deleted_at', 'is', null)
    .where('suspended_at', 'is', null)
    .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now())]))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** The links that the view takes, and that have no click which it counts. */
async function keepSilent(
  needs: ViewJobNeeds,
  view: ViewRow,
  ids: number[],
  range: TimeRange,
): Promise<EventLink[]> {
  const scope = { workspaceId: view.workspace_id }
  const settings = toViewSettings(view)
  const filter = pickLinkFilter(settings.filters)
  const links = await readEventLinks(needs.db.read, { ...scope, origin: needs.origin }, ids)
  const selection = withLinks(withRange(toViewSelection(settings), range), ids)
  const top = { metric: 'clicks', dimension: 'linkId', limit: ids.length } as const
  const clicked = new Set((await countTop(needs, scope, selection, top)).map(({ value }) => Number(value)))
  return ids.flatMap((id) => {
    const link = links.get(id)
    return link && !clicked.has(id) && passesFilter(filter, toLinkFacts(link)) ? [link] : []
  })
}

const pickLinkFilter = (filters: WrittenFilters) =>
  JSON.stringify(Object.fromEntries(Object.entries(filters).filter(([name]) => LINK_FILTERS.includes(name))))

function withLinks({ clicks, ...selection }: ViewSelection, values: number[]): ViewSelection {
  const filter = { name: 'linkId' as const, values, negate: false }
  return { ...selection, clicks: clicks && { ...clicks, filters: [...clicks.filters, filter] } }
}

function formatReason(count: number, [first]: EventLink[], window: AlertSettings['window']): string {
  const hours = formatWindow(window)
  if (count === 1 && first) return `${first.domain}/${first.slug} had no click in its first ${hours}`
  return `${formatFigure(count)} new links had no click in their first ${hours}`
}
