// The totals compared with the previous period, and the line over time. A click on a total chooses the metric of the
// page.

import { lazy, Suspense } from 'react'
import { Button } from '../../../ui/button.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { EmptyChart } from './empty-chart.tsx'
import { ImportedNote } from './imported-note.tsx'
import { MetricTiles } from './metric-tiles.tsx'
import { TimelineHeader } from './timeline-header.tsx'
import { useLiveRefresh } from './use-live-refresh.ts'
import { useTotals } from './use-totals.ts'
import { useZoom } from './use-zoom.ts'

const Timeline = lazy(() => import('./timeline.tsx').then(({ Timeline }) => ({ default: Timeline })))

export function Overview({ view }: { view: AnalyticsView }) {
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
            <Suspense fallback={<Skeleton className="h-56 sm:h-72" />}>
              <Timeline view={view} totals={totals} zoom={zoom} />
            </Suspense>
            <EmptyChart view={view} totals={totals} />
          </div>
        )}
        {view.metric !== 'leads' && <ImportedNote view={view} />}
      </div>
    </section>
  )
}
