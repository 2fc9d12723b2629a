// Analytics without the frame of a page: of the whole workspace, or of what is `fixed`, such as one link.

import { lazy, Suspense, useMemo } from 'react'
import { Overview } from './overview.tsx'
import { Toolbar } from './toolbar.tsx'
import { type Fixed, useView } from './use-view.ts'

// Below the first screen.
const Breakdowns = lazy(() => import('./breakdowns.tsx').then(({ Breakdowns }) => ({ default: Breakdowns })))
const FunnelCard = lazy(() => import('./funnel.tsx').then(({ FunnelCard }) => ({ default: FunnelCard })))

export function AnalyticsPanel({ fixed }: { fixed: Fixed }) {
  // Who writes `fixed={{ linkId }}` makes a new one each time.
  const written = JSON.stringify(fixed)
  const kept = useMemo(() => JSON.parse(written) as Fixed, [written])
  const view = useView(kept)
  return (
    <div className="grid grid-cols-1 gap-4">
      <Toolbar view={view} />
      <Overview view={view} />
      <Suspense fallback={<div className="h-dvh" />}>
        <Breakdowns view={view} />
        <FunnelCard view={view} />
      </Suspense>
    </div>
  )
}
