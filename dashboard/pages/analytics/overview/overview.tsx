// The totals against the period before, each a switch for what the page counts, and the line over time.

import { keepPreviousData, type Query, useIsFetching, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { analyticsKey, totalQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorState, Skeleton } from '../../../ui/states.tsx'
import { previousRange } from '../view/date-range.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { EmptyChart } from './empty-chart.tsx'
import { keepPreviousPeriod } from './keep-previous-period.ts'
import { MetricTiles } from './metric-tiles.tsx'
import { TimelineHeader } from './timeline-header.tsx'

const Timeline = lazy(() => import('./timeline.tsx').then(({ Timeline }) => ({ default: Timeline })))

/** A click is counted within a second of its redirect: asked so often, it is on the page within two. */
const LIVE_MS = 1000
const LEADS_MS = 2000
/** Where the server could not answer. */
const RETRY_MS = 5000

/** What was never answered waits until somebody tries again; an answer that has grown old is mended by itself. */
const refetchEvery = (ms: number) => (query: Pick<Query, 'state'>) => {
  if (query.state.status !== 'error') return ms
  return query.state.data === undefined ? false : RETRY_MS
}

export type AnalyticsTotals = ReturnType<typeof useTotals>

export function Overview({ view }: { view: AnalyticsView }) {
  const totals = useTotals(view)
  useLiveRefresh(view, totals)
  const { data, error, refetch } = view.metric === 'leads' ? totals.leads : totals.clicks
  return (
    <section className="rounded-2xl border border-line bg-card" aria-label="Overview">
      <MetricTiles view={view} totals={totals} />
      <div className="border-t border-line p-4 sm:p-5">
        <TimelineHeader view={view} totals={totals} />
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
              <Timeline view={view} totals={totals} />
            </Suspense>
            <EmptyChart view={view} totals={totals} />
          </div>
        )}
      </div>
    </section>
  )
}

function useTotals(view: AnalyticsView) {
  const api = useApi()
  const { clicks: ofClicks, leads: ofLeads, range, timezone } = view
  const clicks = useQuery({
    ...totalQuery(api, 'clicks', ofClicks ?? {}),
    enabled: ofClicks !== null,
    refetchInterval: refetchEvery(LIVE_MS),
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
  const leads = useQuery({
    ...totalQuery(api, 'leads', ofLeads ?? {}),
    enabled: ofLeads !== null,
    refetchInterval: refetchEvery(LEADS_MS),
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
  const known = (ofClicks ? clicks : leads).data
  const span = known && { start: known.start, end: known.end }
  const before = span ? previousRange(span, range.interval, timezone) : null
  const previous = { interval: undefined, ...before, timezone }
  const [clicksThen, leadsThen] = [
    { ...ofClicks, ...previous },
    { ...ofLeads, ...previous },
  ]
  const clicksBefore = useQuery({
    ...totalQuery(api, 'clicks', clicksThen, 'before'),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousPeriod('clicks', clicksThen),
    enabled: ofClicks !== null && before !== null,
  })
  const leadsBefore = useQuery({
    ...totalQuery(api, 'leads', leadsThen, 'before'),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousPeriod('leads', leadsThen),
    enabled: ofLeads !== null && before !== null,
  })
  return { clicks, leads, clicksBefore, leadsBefore, before, span }
}

/**
 * When a total has moved, what stands below it is asked again: a page that nobody clicks on asks two short questions only.
 * As long as that takes, so long it rests, and so the totals never wait in a queue for long.
 */
function useLiveRefresh(view: AnalyticsView, { clicks, leads }: Pick<AnalyticsTotals, 'clicks' | 'leads'>) {
  const client = useQueryClient()
  const api = useApi()
  const question = JSON.stringify([view.clicks, view.leads])
  const counts = [clicks.data?.count, clicks.data?.visitors, leads.data?.count].join()
  const fresh = !clicks.isPlaceholderData && !leads.isPlaceholderData
  const asked = { queryKey: analyticsKey(api), predicate: (query: Query) => !refreshesItself(query.queryKey) }
  // What is on its way may be older: it is asked again when it is there.
  const busy = useIsFetching(asked) > 0
  const seen = useRef({ question: '', counts: '' })
  const restUntil = useRef(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is asked follows from the question
  useEffect(() => {
    if (!fresh) return
    if (seen.current.question !== question) {
      seen.current = { question, counts }
      return
    }
    if (busy || seen.current.counts === counts) return
    const again = async () => {
      seen.current = { question, counts }
      const began = Date.now()
      await client.invalidateQueries(asked)
      restUntil.current = Date.now() + (Date.now() - began)
    }
    // Browsers count in 32 bits: far below nothing is far in the future.
    const timer = setTimeout(again, Math.max(0, restUntil.current - Date.now()))
    return () => clearTimeout(timer)
  }, [question, counts, fresh, busy])
}

const refreshesItself = ([, , kind, of]: readonly unknown[]) => kind === 'total' || of === 'before'
