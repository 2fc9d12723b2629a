// Loads the totals of clicks and leads for the selected range and for the previous period.

import { keepPreviousData, type Query, useQuery } from '@tanstack/react-query'
import { funnelQuery, totalQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { previousRange } from '../view/date-range.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { keepPreviousPeriod } from './keep-previous-period.ts'

/** The server counts a click within a second. With this interval, the click is on the page within two seconds. */
const LIVE_MS = 1000
const LEADS_MS = 2000
/** The funnel counts three times, and a rate changes slowly. */
const RATE_MS = 5000
/** The interval after a failed request. */
const RETRY_MS = 5000

/** After an error without data, the user must try again. With data, the query retries by itself. */
const refetchEvery = (ms: number) => (query: Pick<Query, 'state'>) => {
  if (query.state.status !== 'error') return ms
  return query.state.data === undefined ? false : RETRY_MS
}

export type AnalyticsTotals = ReturnType<typeof useTotals>

/**
 * @returns `span`: the range of the API's answer; `before`: the period to compare with, or null; `comparable`: whether there
 * was anything in it
 */
export function useTotals(view: AnalyticsView) {
  const api = useApi()
  const { clicks: clickQuery, leads: leadQuery, range, timezone } = view
  const clicks = useQuery({
    ...totalQuery(api, 'clicks', clickQuery ?? {}),
    enabled: clickQuery !== null,
    refetchInterval: refetchEvery(LIVE_MS),
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
  const leads = useQuery({
    ...totalQuery(api, 'leads', leadQuery ?? {}),
    enabled: leadQuery !== null,
    refetchInterval: refetchEvery(LEADS_MS),
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
  const loaded = (clickQuery ? clicks : leads).data
  const span = loaded && { start: loaded.start, end: loaded.end }
  const before = span ? previousRange(span, range.interval, timezone, view.compare) : null
  const previousPeriod = { interval: undefined, ...before, timezone }
  const previousClickQuery = { ...clickQuery, ...previousPeriod }
  const previousLeadQuery = { ...leadQuery, ...previousPeriod }
  const clicksBefore = useQuery({
    ...totalQuery(api, 'clicks', previousClickQuery, 'before'),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousPeriod('clicks', previousClickQuery),
    enabled: clickQuery !== null && before !== null,
  })
  const leadsBefore = useQuery({
    ...totalQuery(api, 'leads', previousLeadQuery, 'before'),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousPeriod('leads', previousLeadQuery),
    enabled: leadQuery !== null && before !== null,
  })
  const rate = useRate(view, previousPeriod, before !== null)
  // Before the first click and the first lead there was no period to compare with.
  const comparable =
    before !== null && ((clicksBefore.data?.count ?? 0) > 0 || (leadsBefore.data?.count ?? 0) > 0)
  return { clicks, leads, clicksBefore, leadsBefore, ...rate, before, comparable, span }
}

/** The conversion rate, which only the funnel knows: leads without a click are in no rate. */
function useRate({ stages }: AnalyticsView, previousPeriod: object, hasPrevious: boolean) {
  const api = useApi()
  const enabled = stages !== null
  const funnel = useQuery({
    ...funnelQuery(api, stages ?? {}),
    enabled,
    refetchInterval: refetchEvery(RATE_MS),
    staleTime: 0,
    placeholderData: keepPreviousData,
  })
  const previousQuery = { ...stages, ...previousPeriod }
  const funnelBefore = useQuery({
    ...funnelQuery(api, previousQuery),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousPeriod('funnel', previousQuery),
    enabled: enabled && hasPrevious,
  })
  return { funnel, funnelBefore }
}
