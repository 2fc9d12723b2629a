// The line over time. Apart from the page, because the chart comes later than the numbers.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Bucket, timelineQuery } from '../../api/analytics.ts'
import { useApi } from '../../shell/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { LineChart } from '../../ui/charts/line-chart.tsx'
import { formatNumber } from '../../ui/format.ts'
import { join } from '../../ui/join.ts'
import { Failed, Skeleton } from '../../ui/states.tsx'
import { METRICS } from './dimensions.ts'
import { keepBefore } from './keep-before.ts'
import type { TotalsNow } from './overview.tsx'
import { granularityOf, rangeOfBucket } from './range.ts'
import { bucketNames } from './times.ts'
import type { View } from './use-view.ts'

const HEIGHT = 'h-56 sm:h-72'

export function Timeline({ view, totals }: { view: View; totals: TotalsNow }) {
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
  const granularity = view.granularity ?? granularityOf(times, totals.span)
  const { before: range } = totals
  const then = { ...asked, interval: undefined, ...range, granularity }
  const before = useQuery({
    ...timelineQuery(api, subject, then, 'before'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: asked !== null && range !== null && now.data !== undefined && !now.isPlaceholderData,
    placeholderData: keepBefore(subject, then),
  })
  const points = usePoints(view, now.data, range ? before.data : undefined)
  if (asked === null) {
    return (
      <div className={join(HEIGHT, 'grid place-content-center justify-items-center gap-3')}>
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
        <Failed error={now.error} retry={now.refetch} />
      </div>
    )
  }
  if (!now.data) return <Skeleton className={HEIGHT} />
  const last = times.at(-1)
  const closer = (index: number) => {
    const range = times[index] ? rangeOfBucket(times[index], granularity, timezone) : null
    if (range)
      view.set({ interval: undefined, start: undefined, end: undefined, granularity: undefined, ...range })
  }
  return (
    <div className={now.isPlaceholderData ? 'opacity-90 transition-opacity' : 'transition-opacity'}>
      <LineChart
        what={METRICS[metric]}
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

function usePoints(view: View, now: Bucket[] | undefined, before: Bucket[] | undefined) {
  const { metric, timezone, granularity } = view
  return useMemo(() => {
    if (!now) return []
    const times = now.map(({ time }) => time)
    const names = bucketNames(times, granularity ?? granularityOf(times), timezone)
    const value = (bucket: Bucket) => (metric === 'visitors' ? bucket.visitors : bucket.count)
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
