// The totals compared with the previous period, and the line over time. A click on a total chooses the metric of the
// page.

import { type Query, useIsFetching, useQuery, useQueryClient } from '@tanstack/react-query'
import { FileText, Link2 } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { analyticsKey, totalQuery } from '../../../api/analytics.ts'
import { useApi, useWorkspace } from '../../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { inSentence } from '../../../ui/text.ts'
import { METRIC_LABELS } from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { MetricTiles } from './metric-tiles.tsx'
import { TimelineHeader } from './timeline-header.tsx'
import { type AnalyticsTotals, useTotals } from './use-totals.ts'
import { useZoom } from './use-zoom.ts'

const Timeline = lazyPart(() => import('./timeline.tsx'), 'Timeline', <Skeleton className="h-56 sm:h-72" />)

/** @param since before this time there was nothing to count */
export function Overview({ view, since }: { view: AnalyticsView; since: string }) {
  const totals = useTotals(view)
  useLiveRefresh(view, totals)
  const zoom = useZoom(view)
  const { data, error, refetch } = view.metric === 'leads' ? totals.leads : totals.clicks
  return (
    <section className="rounded-2xl border border-line bg-card" aria-label="Overview">
      <MetricTiles view={view} totals={totals} />
      <div className="border-t border-line p-4 sm:p-5">
        <TimelineHeader view={view} totals={totals} zoom={zoom} />
        {error && !data ? (
          <div className="grid min-h-56 content-start gap-3 sm:min-h-72">
            <ErrorState error={error} retry={refetch} />
            {view.filters.length > 0 && (
              <Button size="small" className="justify-self-start" onClick={view.clear}>
                Clear filters
              </Button>
            )}
          </div>
        ) : (
          <div className="relative">
            <Timeline view={view} totals={totals} zoom={zoom} since={since} />
            <EmptyChart view={view} totals={totals} />
          </div>
        )}
        {view.metric !== 'leads' && <ImportedNote view={view} />}
      </div>
    </section>
  )
}

/** The message over a chart without data: the reason, and what to do. */
function EmptyChart({ view, totals }: { view: AnalyticsView; totals: AnalyticsTotals }) {
  const { id } = useWorkspace()
  const { data, isPlaceholderData } = view.metric === 'leads' ? totals.leads : totals.clicks
  if (!data || isPlaceholderData || data.count > 0) return null
  const metric = inSentence(METRIC_LABELS[view.metric])
  const isFiltered = view.filters.length > 0 || view.hitClass !== undefined
  const isAllTime = view.range.interval === 'all'
  return (
    <div className="absolute inset-0 grid place-items-center p-4">
      <div className="grid justify-items-center gap-2 rounded-2xl border border-line bg-card px-6 py-5 text-center shadow-sm">
        <p className="font-semibold">
          {isFiltered
            ? `No ${metric} match these filters`
            : isAllTime
              ? `No ${metric} yet`
              : `No ${metric} in this period`}
        </p>
        <p className="max-w-xs text-sm text-soft">
          {isFiltered
            ? 'Remove a filter, or choose a longer period.'
            : view.metric === 'leads'
              ? 'Every submission of your forms counts as a lead.'
              : 'linkId' in view.fixed
                ? 'Open the link. The click appears here within two seconds.'
                : 'Open one of your links. The click appears here within two seconds.'}
        </p>
        <div className="mt-1 flex flex-wrap justify-center gap-2">
          {isFiltered && (
            <Button size="small" onClick={view.clear}>
              Clear filters
            </Button>
          )}
          {!isAllTime && (
            <Button
              size="small"
              onClick={() => view.set({ interval: 'all', start: undefined, end: undefined })}
            >
              Show all time
            </Button>
          )}
          {!isFiltered && !('linkId' in view.fixed) && (
            <ButtonLink
              size="small"
              icon={view.metric === 'leads' ? <FileText size={14} /> : <Link2 size={14} />}
              to={view.metric === 'leads' ? '/$workspaceId/forms' : '/$workspaceId/links'}
              params={{ workspaceId: String(id) }}
              search={{}}
            >
              {view.metric === 'leads' ? 'Go to forms' : 'Go to links'}
            </ButtonLink>
          )}
        </div>
      </div>
    </div>
  )
}

/** Imports are rare. */
const STALE_MS = 60_000

/** The number of imported clicks, as a note: they explain why there are fewer visitors than one expects. */
function ImportedNote({ view }: { view: AnalyticsView }) {
  const { data } = useQuery({
    ...totalQuery(useApi(), 'clicks', { ...view.clicks, imported: 'true' }),
    enabled: view.clicks !== null,
    staleTime: STALE_MS,
  })
  if (!data || data.count === 0) return null
  return (
    <p className="mt-3 text-sm text-soft">
      {data.count === 1
        ? '1 of these clicks is imported.'
        : `${formatNumber(data.count)} of these clicks are imported.`}
      {data.visitors === 0 && ' Imported clicks have no visitors.'}
    </p>
  )
}

/**
 * Refreshes the rest of the page after a total has changed, so that a page without new clicks only polls the two totals.
 * After a refresh it waits for as long as the refresh took, so that the totals never wait behind it for long.
 */
function useLiveRefresh(view: AnalyticsView, { clicks, leads }: Pick<AnalyticsTotals, 'clicks' | 'leads'>) {
  const client = useQueryClient()
  const api = useApi()
  const query = JSON.stringify([view.clicks, view.leads])
  const counts = [clicks.data?.count, clicks.data?.visitors, leads.data?.count].join()
  const isLoaded = (each: typeof clicks) => each.isSuccess || each.fetchStatus === 'idle'
  const isFresh = isLoaded(clicks) && isLoaded(leads) && !clicks.isPlaceholderData && !leads.isPlaceholderData
  const others = {
    queryKey: analyticsKey(api),
    predicate: ({ queryKey }: Query) => !refreshesItself(queryKey),
  }
  // A request that is under way may bring older data: the refresh follows when it is done.
  const busy = useIsFetching(others) > 0
  const last = useRef({ query: '', counts: '' })
  const restUntil = useRef(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `others` depends only on the workspace
  useEffect(() => {
    if (!isFresh) return
    if (last.current.query !== query) {
      last.current = { query, counts }
      return
    }
    if (busy || last.current.counts === counts) return
    const refresh = async () => {
      last.current = { query, counts }
      const startedAt = Date.now()
      await client.invalidateQueries(others)
      restUntil.current = Date.now() + (Date.now() - startedAt)
    }
    // Browsers store the delay in 32 bits: a large negative number would become a long delay.
    const timer = setTimeout(refresh, Math.max(0, restUntil.current - Date.now()))
    return () => clearTimeout(timer)
  }, [query, counts, isFresh, busy])
}

const refreshesItself = ([, , kind, period]: readonly unknown[]) => kind === 'total' || period === 'before'
