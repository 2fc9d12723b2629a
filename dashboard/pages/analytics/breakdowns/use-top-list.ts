// The rows of a top list, counted by what the page counts.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type BreakdownRow, type Subject, topListQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { createNameShortener, type Dimension, formatDimensionValue } from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

export interface TopRow extends BreakdownRow {
  label: string
  /** Of what the list is sorted by. */
  amount: number
}

/** @param on false while nobody can see it */
export function useTopList(
  view: AnalyticsView,
  dimension: Dimension,
  subject: Subject,
  { limit, on = true }: { limit?: number; on?: boolean } = {},
) {
  const api = useApi()
  const query = useQuery({
    ...topListQuery(api, subject, dimension, view[subject] ?? {}, limit),
    enabled: on && view[subject] !== null,
    placeholderData: keepPreviousData,
  })
  const byVisitors = subject === 'clicks' && view.metric === 'visitors'
  const rows = useMemo(() => {
    const short =
      dimension === 'linkId'
        ? createNameShortener(query.data?.map(({ name }) => name) ?? [])
        : (name: string) => name
    const shown = query.data?.map(
      (row): TopRow => ({
        ...row,
        label: row.name ? short(row.name) : formatDimensionValue(dimension, row.value),
        amount: byVisitors ? row.visitors : row.count,
      }),
    )
    return byVisitors ? shown?.sort((a, b) => b.amount - a.amount) : shown
  }, [query.data, dimension, byVisitors])
  return { ...query, rows }
}
