// Where the line would be flat: why, and what to do about it.

import { FileText, Link2 } from 'lucide-react'
import { useWorkspace } from '../../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { METRIC_LABELS } from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import type { AnalyticsTotals } from './overview.tsx'

export function EmptyChart({ view, totals }: { view: AnalyticsView; totals: AnalyticsTotals }) {
  const { id } = useWorkspace()
  const { data, isPlaceholderData } = view.metric === 'leads' ? totals.leads : totals.clicks
  if (!data || isPlaceholderData || data.count > 0) return null
  const what = METRIC_LABELS[view.metric].toLowerCase()
  const narrowed = view.filters.length > 0 || view.hitClass !== undefined
  const everything = view.range.interval === 'all'
  return (
    <div className="absolute inset-0 grid place-items-center p-4">
      <div className="grid justify-items-center gap-2 rounded-2xl border border-line bg-card px-6 py-5 text-center shadow-sm">
        <p className="font-semibold">
          {narrowed ? `No ${what} match` : everything ? `No ${what} yet` : `No ${what} in this time`}
        </p>
        <p className="max-w-xs text-sm text-soft">
          {narrowed
            ? 'Take a filter away, or look at more time.'
            : view.metric === 'leads'
              ? 'Whoever sends one of your forms is counted here.'
              : 'linkId' in view.fixed
                ? 'Open the link: it is counted here within two seconds.'
                : 'Open one of your links: it is counted here within two seconds.'}
        </p>
        <div className="mt-1 flex flex-wrap justify-center gap-2">
          {narrowed && (
            <Button size="small" onClick={view.clear}>
              Clear filters
            </Button>
          )}
          {!everything && (
            <Button
              size="small"
              onClick={() => view.set({ interval: 'all', start: undefined, end: undefined })}
            >
              Show all time
            </Button>
          )}
          {!narrowed && !('linkId' in view.fixed) && (
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
