// The message over a chart without data: the reason, and what to do.

import { FileText, Link2 } from 'lucide-react'
import { useWorkspace } from '../../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { METRIC_LABELS } from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import type { AnalyticsTotals } from './use-totals.ts'

export function EmptyChart({ view, totals }: { view: AnalyticsView; totals: AnalyticsTotals }) {
  const { id } = useWorkspace()
  const { data, isPlaceholderData } = view.metric === 'leads' ? totals.leads : totals.clicks
  if (!data || isPlaceholderData || data.count > 0) return null
  const metric = METRIC_LABELS[view.metric].toLowerCase()
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
