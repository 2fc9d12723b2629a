// The public statistics of a link, for its preview page: its clicks in total and of the last 30 days. They say nothing of
// its destination.

import { html } from 'hono/html'
import type { Html } from '../../../http/html-page.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { LeadContext } from '../../analytics/answer-leads.ts'
import { createBucketFormatter, formatFigure, timelineChart } from '../chart.ts'
import { countTime, countTop, countTotals } from '../count-view.ts'
import { DIMENSIONS, type Dimension } from '../dimensions.ts'
import type { ViewSelection } from '../view-selection.ts'
import { toRows } from './render-share.ts'

const SHOWN: Dimension[] = ['source', 'country']
const ROWS = 5

type StatsLink = { id: number; workspaceId: number }

const selectLink = ({ id }: StatsLink): ViewSelection => {
  const shared = { range: { interval: '30d' as const }, timezone: 'UTC' }
  const filters = [{ name: 'linkId' as const, values: [id], negate: false }]
  return { ...shared, clicks: { ...shared, filters, classes: ['human'] }, leads: null }
}

/** @throws Failure `unavailable` when the hits cannot be counted */
export async function renderLinkStats(needs: LeadContext, link: StatsLink): Promise<Html> {
  const scope = { workspaceId: link.workspaceId }
  const selection = selectLink(link)
  const [all, recent, time, ...lists] = await Promise.all([
    readClicks(needs.db, link),
    countTotals(needs, scope, selection),
    countTime(needs, scope, selection, 'clicks'),
    ...SHOWN.map((dimension) =>
      countTop(needs, scope, selection, { metric: 'clicks', dimension, limit: ROWS }),
    ),
  ])
  const format = createBucketFormatter(time, 'UTC')
  const bars = time.map(({ at, count }) => ({ count, title: `${format(at)}: ${formatFigure(count)}` }))
  return html`<div class="tiles"><div>Clicks <b>${formatFigure(all)}</b></div><div>Last 30 days <b>${formatFigure(recent.clicks ?? 0)}</b></div></div>
${timelineChart(bars, 'Clicks over the last 30 days')}
<p class="ends"><span>${format(time[0]?.at ?? needs.now())}</span><span>Today (UTC)</span></p>
${SHOWN.map((dimension, i) => {
  const rows = lists[i] ?? []
  return rows.length === 0 ? '' : html`<h2>${DIMENSIONS[dimension]}</h2>${toRows(rows)}`
})}`
}

/** The number that the API has as `clicks`. */
async function readClicks({ read }: Database, { id, workspaceId }: StatsLink): Promise<number> {
  const link = await read
    .selectFrom('links')
    .leftJoin('link_counters', 'link_counters.link_id', 'links.id')
    .select(['links.clicks', 'link_counters.clicks as new_clicks'])
    .where('links.workspace_id', '=', workspaceId)
    .where('links.id', '=', id)
    .executeTakeFirst()
  return Number(link?.clicks ?? 0) + Number(link?.new_clicks ?? 0)
}
