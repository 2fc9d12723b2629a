// Analytics without the page's frame: for the whole workspace, or narrowed by fixed filters, such as one link.

import { useMemo } from 'react'
import { useWorkspace } from '../../shell/use-workspace.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Overview } from './overview/overview.tsx'
import { AnalyticsToolbar } from './toolbar/analytics-toolbar.tsx'
import { type FixedFilters, useAnalyticsView } from './view/use-analytics-view.ts'

// Loaded later, because they are below the first screen.
const Breakdowns = lazyPart(
  () => import('./breakdowns/breakdowns.tsx'),
  'Breakdowns',
  <div className="h-dvh" />,
)
const FunnelCard = lazyPart(() => import('./funnel/funnel-card.tsx'), 'FunnelCard')

/** @param since when the link was created; without it, the workspace */
export function AnalyticsPanel({ fixed, since }: { fixed: FixedFilters; since?: string }) {
  const { createdAt } = useWorkspace()
  // A new object with equal filters must not change the view.
  const fixedJson = JSON.stringify(fixed)
  const stableFixed = useMemo(() => JSON.parse(fixedJson) as FixedFilters, [fixedJson])
  const view = useAnalyticsView(stableFixed)
  return (
    <div className="grid grid-cols-1 gap-4">
      <AnalyticsToolbar view={view} />
      <Overview view={view} since={since ?? createdAt} />
      <Breakdowns view={view} />
      <FunnelCard view={view} />
    </div>
  )
}
