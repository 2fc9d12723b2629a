// Loads the timeline and the lists of the page again after a total has changed.

import { type Query, useIsFetching, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { analyticsKey } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import type { AnalyticsTotals } from './use-totals.ts'

/**
 * Refreshes the rest of the page after a total has changed, so that a page without new clicks only polls the two totals.
 * After a refresh it waits for as long as the refresh took, so that the totals never wait behind it for long.
 */
export function useLiveRefresh(
  view: AnalyticsView,
  { clicks, leads }: Pick<AnalyticsTotals, 'clicks' | 'leads'>,
) {
  const client = useQueryClient()
  const api = useApi()
  const query = JSON.stringify([view.clicks, view.leads])
  const counts = [clicks.data?.count, clicks.data?.visitors, leads.data?.count].join()
  const isFresh = !clicks.isPlaceholderData && !leads.isPlaceholderData
  const others = {
    queryKey: analyticsKey(api),
    predicate: ({ queryKey }: Query) => !refreshesItself(queryKey),
  }
  // A request that is under way may bring older data: the refresh follows when it is done.
  const busy = useIsFetching(others) > 0
  const last = useRef({ query: '', counts: '' })
  const restUntil = useRef(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `others` depends only on the workspace
  useEffect(() => {
    if (!isFresh) return
    if (last.current.query !== query) {
      last.current = { query, counts }
      return
    }
    if (busy || last.current.counts === counts) return
    const refresh = async () => {
      last.current = { query, counts }
      const startedAt = Date.now()
      await client.invalidateQueries(others)
      restUntil.current = Date.now() + (Date.now() - startedAt)
    }
    // Browsers store the delay in 32 bits: a large negative number would become a long delay.
    const timer = setTimeout(refresh, Math.max(0, restUntil.current - Date.now()))
    return () => clearTimeout(timer)
  }, [query, counts, isFresh, busy])
}

const refreshesItself = ([, , kind, period]: readonly unknown[]) => kind === 'total' || period === 'before'
