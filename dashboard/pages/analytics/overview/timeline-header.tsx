// The header of the chart: metric, comparison and granularity.

import { RotateCcw, WifiOff } from 'lucide-react'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { Select } from '../../../ui/forms/field.tsx'
import { COMPARISONS, GRANULARITIES, listGranularities } from '../view/date-range.ts'
import { METRIC_LABELS } from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import type { AnalyticsTotals } from './use-totals.ts'
import type { Zoom } from './use-zoom.ts'

const GRANULARITY_LABELS = {
  minute: 'By minute',
  hour: 'By hour',
  day: 'By day',
  week: 'By week',
  month: 'By month',
} as const

const COMPARISON_LABELS = {
  previous: 'Previous period',
  year: 'Previous year',
  none: 'No comparison',
} as const

export function TimelineHeader({
  view,
  totals,
  zoom,
}: {
  view: AnalyticsView
  totals: AnalyticsTotals
  zoom: Zoom
}) {
  const { span, comparable } = totals
  const { data, error } = view.metric === 'leads' ? totals.leads : totals.clicks
  const suitable = span ? listGranularities(span) : []
  const offered = GRANULARITIES.filter((each) => suitable.includes(each) || each === view.granularity)
  return (
    <div className="mb-3 flex h-8 items-center gap-x-3 text-sm sm:gap-x-5">
      <h2 className="flex items-center gap-2 font-medium">
        <span aria-hidden className="h-0.5 w-4 rounded bg-accent" />
        {METRIC_LABELS[view.metric]}
      </h2>
      {view.range.interval !== 'all' && <ComparisonSelect view={view} isDrawn={comparable} />}
      {data && error && (
        <p role="status" title={error.message} className="flex items-center gap-1.5 text-warn">
          <WifiOff size={14} aria-hidden />
          Out of date
        </p>
      )}
      {data && !error && view.range.interval && (
        <p className="flex items-center gap-1.5 text-soft max-sm:hidden">
          <span aria-hidden className="size-2 rounded-full bg-accent" />
          Live
        </p>
      )}
      {zoom.reset && (
        <Button
          size="small"
          className="ml-auto shrink-0"
          icon={<RotateCcw size={14} />}
          onClick={(event) => {
            zoom.reset?.()
            // The button goes with the zoom.
            event.currentTarget.parentElement?.querySelector('select')?.focus()
          }}
        >
          Reset<span className="max-sm:sr-only"> zoom</span>
        </Button>
      )}
      <Select
        aria-label="Granularity"
        value={view.granularity ?? ''}
        onChange={(event) => view.set({ granularity: event.target.value || undefined })}
        className={classNames(
          'h-8! w-24! shrink-0 border-line! px-2! text-sm sm:w-32!',
          !zoom.reset && 'ml-auto',
        )}
        options={offered.map((each) => [each, GRANULARITY_LABELS[each]])}
      >
        <option value="">Auto</option>
      </Select>
    </div>
  )
}

/** @param isDrawn whether the chart has a line of the compared period */
const ComparisonSelect = ({ view, isDrawn }: { view: AnalyticsView; isDrawn: boolean }) => (
  <div className="flex min-w-0 items-center gap-2">
    {isDrawn && <span aria-hidden className="w-4 shrink-0 border-t-2 border-dotted border-strong" />}
    <Select
      aria-label="Compare with"
      value={view.compare}
      onChange={({ target }) => view.set({ compare: target.value === 'previous' ? undefined : target.value })}
      className="h-8! w-auto! min-w-0 border-line! px-2! text-sm"
      options={COMPARISONS.map((each) => [each, COMPARISON_LABELS[each]])}
    />
  </div>
)
