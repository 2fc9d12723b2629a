// Analytics without the frame of a page: of the whole workspace, or of what is `fixed`, such as one link.

import { lazy, Suspense, useMemo } from 'react'
import { Overview } from './overview/overview.tsx'
import { AnalyticsToolbar } from './toolbar/analytics-toolbar.tsx'
import { type FixedFilters, useAnalyticsView } from './view/use-analytics-view.ts'

// Below the first screen.
const Breakdowns = lazy(() =>
  import('./breakdowns/breakdowns.tsx').then(({ Breakdowns }) => ({ default: Breakdowns })),
)
const FunnelCard = lazy(() =>
  import('./funnel/funnel-card.tsx').then(({ FunnelCard }) => ({ default: FunnelCard })),
)

export function AnalyticsPanel({ fixed }: { fixed: FixedFilters }) {
  // Who writes `fixed={{ linkId }}` makes a new one each time.
  const written = JSON.stringify(fixed)
  const kept = useMemo(() => JSON.parse(written) as FixedFilters, [written])
  const view = useAnalyticsView(kept)
  return (
    <div className="grid grid-cols-1 gap-4">
      <AnalyticsToolbar view={view} />
      <Overview view={view} />
      <Suspense fallback={<div className="h-dvh" />}>
        <Breakdowns view={view} />
        <FunnelCard view={view} />
      </Suspense>
    </div>
  )
}
