// The chart over time. It is loaded after the totals.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type TimelineBucket, timelineQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import type { ChartPoint } from '../../../ui/charts/chart-point.ts'
import { LineChart } from '../../../ui/charts/line-chart.tsx'
import type { PointRange } from '../../../ui/charts/use-brush.ts'
import { classNames } from '../../../ui/class-names.ts'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { type Granularity, inferGranularity, toBucketRange, toBucketsRange } from '../view/date-range.ts'
import { METRIC_LABELS } from '../view/dimensions.ts'
import { createBucketLabels } from '../view/time-labels.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { keepPreviousPeriod } from './keep-previous-period.ts'
import type { AnalyticsTotals } from './use-totals.ts'
import type { Zoom } from './use-zoom.ts'

const HEIGHT = 'h-56 sm:h-72'

export function Timeline({
  view,
  totals,
  zoom,
  since,
}: {
  view: AnalyticsView
  totals: AnalyticsTotals
  zoom: Zoom
  since: string
}) {
  const { metric, timezone } = view
  const subject = metric === 'leads' ? 'leads' : 'clicks'
  const parameters = view[subject]
  const api = useApi()
  const current = useQuery({
    ...timelineQuery(api, subject, { ...parameters, granularity: view.granularity }),
    enabled: parameters !== null,
    placeholderData: keepPreviousData,
  })
  const times = current.data?.map(({ time }) => time) ?? []
  const granularity = view.granularity ?? inferGranularity(times, totals.span)
  const { before: previousRange } = totals
  const previousQuery = { ...parameters, interval: undefined, ...previousRange, granularity }
  const previous = useQuery({
    ...timelineQuery(api, subject, previousQuery, 'before'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled:
      parameters !== null &&
      previousRange !== null &&
      current.data !== undefined &&
      !current.isPlaceholderData,
    placeholderData: keepPreviousPeriod(subject, previousQuery),
  })
  const points = usePoints(view, since, current.data, totals.comparable ? previous.data : undefined)
  if (parameters === null) {
    return (
      <div className={classNames(HEIGHT, 'grid place-content-center justify-items-center gap-3')}>
        <p className="text-sm text-soft">These filters exclude each other.</p>
        <Button size="small" onClick={view.clear}>
          Clear filters
        </Button>
      </div>
    )
  }
  if (current.error && !current.data) {
    return (
      <div className="min-h-56 sm:min-h-72">
        <ErrorState error={current.error} retry={current.refetch} />
      </div>
    )
  }
  if (!current.data) return <Skeleton className={HEIGHT} />
  const last = times.at(-1)
  return (
    <div className={current.isPlaceholderData ? 'opacity-90 transition-opacity' : 'transition-opacity'}>
      <LineChart
        metric={METRIC_LABELS[metric]}
        points={points}
        format={formatNumber}
        unfinished={last !== undefined && isUnfinished(last, totals.span?.end)}
        {...createZoomHandlers(zoom, times, granularity, timezone)}
      />
    </div>
  )
}

function createZoomHandlers(zoom: Zoom, times: string[], granularity: Granularity, timezone: string) {
  const zoomInOnPoint = (index: number) => {
    const range = times[index] ? toBucketRange(times[index], granularity, timezone) : null
    if (range) zoom.zoomIn(range)
  }
  return {
    onPick: granularity === 'minute' ? undefined : zoomInOnPoint,
    onPickRange({ first, last }: PointRange) {
      const [from, to] = [times[first], times[last]]
      if (from && to) zoom.zoomIn(toBucketsRange(from, to, granularity, timezone))
    },
    onReset: zoom.reset,
  }
}

const TOLERANCE_MS = 60_000

/** The range ends now, in the middle of its last bucket. */
const isUnfinished = (last: string, end: string | undefined) =>
  end !== undefined && Date.parse(last) < Date.now() && Math.abs(Date.parse(end) - Date.now()) < TOLERANCE_MS

/** The index of the first bucket that can count. Imported clicks may be older than the link and the workspace. */
function findStart(buckets: TimelineBucket[], since: string): number {
  const isOver = (index: number) => Date.parse(buckets[index + 1]?.time ?? '') <= Date.parse(since)
  return buckets.findIndex(({ count }, index) => count > 0 || !isOver(index))
}

function usePoints(
  view: AnalyticsView,
  since: string,
  current: TimelineBucket[] | undefined,
  previous: TimelineBucket[] | undefined,
) {
  const { metric, timezone, granularity } = view
  return useMemo(() => {
    if (!current) return []
    const times = current.map(({ time }) => time)
    const labels = createBucketLabels(times, granularity ?? inferGranularity(times), timezone)
    const toValue = (bucket: TimelineBucket) => (metric === 'visitors' ? bucket.visitors : bucket.count)
    const start = findStart(current, since)
    const previousStart = findStart(previous ?? [], since)
    return current.map((bucket, index): ChartPoint => {
      const previousBucket = index < previousStart ? undefined : previous?.[index]
      return {
        label: labels.full(bucket.time),
        short: labels.short(bucket.time),
        value: index < start ? undefined : toValue(bucket),
        previous: previousBucket && toValue(previousBucket),
        previousLabel: previousBucket && labels.full(previousBucket.time),
      }
    })
  }, [since, current, previous, metric, timezone, granularity])
}
