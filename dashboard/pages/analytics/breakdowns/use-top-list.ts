// The rows of a top list, with the values of the page's metric.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type BreakdownRow, type Subject, topListQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { createNameShortener, type Dimension, formatDimensionValue } from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

export interface TopRow extends BreakdownRow {
  label: string
  /** The value that the list is sorted by. */
  amount: number
}

/** @param enabled false while the list is off the screen */
export function useTopList(
  view: AnalyticsView,
  dimension: Dimension,
  subject: Subject,
  { limit, enabled = true }: { limit?: number; enabled?: boolean } = {},
) {
  const api = useApi()
  const query = useQuery({
    ...topListQuery(api, subject, dimension, view[subject] ?? {}, limit),
    enabled: enabled && view[subject] !== null,
    placeholderData: keepPreviousData,
  })
  const byVisitors = subject === 'clicks' && view.metric === 'visitors'
  const rows = useMemo(() => {
    const shorten =
      dimension === 'linkId'
        ? createNameShortener(query.data?.map(({ name }) => name) ?? [])
        : (name: string) => name
    const topRows = query.data?.map(
      (row): TopRow => ({
        ...row,
        label: row.name ? shorten(row.name) : formatDimensionValue(dimension, row.value),
        amount: byVisitors ? row.visitors : row.count,
      }),
    )
    return byVisitors ? topRows?.sort((a, b) => b.amount - a.amount) : topRows
  }, [query.data, dimension, byVisitors])
  return { ...query, rows }
}
