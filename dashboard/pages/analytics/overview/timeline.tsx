// The line over time. Apart from the page, because the chart comes later than the numbers.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type TimelineBucket, timelineQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { LineChart } from '../../../ui/charts/line-chart.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatNumber } from '../../../ui/format.ts'
import { ErrorState, Skeleton } from '../../../ui/states.tsx'
import { inferGranularity, toBucketRange } from '../view/date-range.ts'
import { METRIC_LABELS } from '../view/dimensions.ts'
import { createBucketLabels } from '../view/time-labels.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { keepPreviousPeriod } from './keep-previous-period.ts'
import type { AnalyticsTotals } from './overview.tsx'

const HEIGHT = 'h-56 sm:h-72'

export function Timeline({ view, totals }: { view: AnalyticsView; totals: AnalyticsTotals }) {
  const { metric, timezone } = view
  const subject = metric === 'leads' ? 'leads' : 'clicks'
  const asked = view[subject]
  const api = useApi()
  const now = useQuery({
    ...timelineQuery(api, subject, { ...asked, granularity: view.granularity }),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
  })
  const times = now.data?.map(({ time }) => time) ?? []
  const granularity = view.granularity ?? inferGranularity(times, totals.span)
  const { before: range } = totals
  const then = { ...asked, interval: undefined, ...range, granularity }
  const before = useQuery({
    ...timelineQuery(api, subject, then, 'before'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: asked !== null && range !== null && now.data !== undefined && !now.isPlaceholderData,
    placeholderData: keepPreviousPeriod(subject, then),
  })
  const points = usePoints(view, now.data, range ? before.data : undefined)
  if (asked === null) {
    return (
      <div className={classNames(HEIGHT, 'grid place-content-center justify-items-center gap-3')}>
        <p className="text-sm text-soft">These filters do not go together.</p>
        <Button size="small" onClick={view.clear}>
          Clear filters
        </Button>
      </div>
    )
  }
  if (now.error && !now.data) {
    return (
      <div className="min-h-56 sm:min-h-72">
        <ErrorState error={now.error} retry={now.refetch} />
      </div>
    )
  }
  if (!now.data) return <Skeleton className={HEIGHT} />
  const last = times.at(-1)
  const closer = (index: number) => {
    const range = times[index] ? toBucketRange(times[index], granularity, timezone) : null
    if (range)
      view.set({ interval: undefined, start: undefined, end: undefined, granularity: undefined, ...range })
  }
  return (
    <div className={now.isPlaceholderData ? 'opacity-90 transition-opacity' : 'transition-opacity'}>
      <LineChart
        what={METRIC_LABELS[metric]}
        points={points}
        format={formatNumber}
        unfinished={last !== undefined && isUnfinished(last, totals.span?.end)}
        onPick={granularity === 'minute' ? undefined : closer}
      />
    </div>
  )
}

const SOON_MS = 60_000

/** The range ends now, and so in the middle of its last bucket. */
const isUnfinished = (last: string, end: string | undefined) =>
  end !== undefined && Date.parse(last) < Date.now() && Math.abs(Date.parse(end) - Date.now()) < SOON_MS

function usePoints(
  view: AnalyticsView,
  now: TimelineBucket[] | undefined,
  before: TimelineBucket[] | undefined,
) {
  const { metric, timezone, granularity } = view
  return useMemo(() => {
    if (!now) return []
    const times = now.map(({ time }) => time)
    const names = createBucketLabels(times, granularity ?? inferGranularity(times), timezone)
    const value = (bucket: TimelineBucket) => (metric === 'visitors' ? bucket.visitors : bucket.count)
    return now.map((bucket, index) => {
      const then = before?.[index]
      return {
        label: names.full(bucket.time),
        short: names.short(bucket.time),
        value: value(bucket),
        before: then && value(then),
        beforeLabel: then && names.full(then.time),
      }
    })
  }, [now, before, metric, timezone, granularity])
}
