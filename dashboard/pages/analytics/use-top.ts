// The rows of a top list, counted by what the page counts.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Row, type Subject, topQuery } from '../../api/analytics.ts'
import { useApi } from '../../shell/workspace.ts'
import { type Dimension, valueName, withoutDomain } from './dimensions.ts'
import type { View } from './use-view.ts'

export interface TopRow extends Row {
  label: string
  /** Of what the list is sorted by. */
  shown: number
}

/** @param on false while nobody can see it */
export function useTop(
  view: View,
  dimension: Dimension,
  subject: Subject,
  { limit, on = true }: { limit?: number; on?: boolean } = {},
) {
  const api = useApi()
  const query = useQuery({
    ...topQuery(api, subject, dimension, view[subject] ?? {}, limit),
    enabled: on && view[subject] !== null,
    placeholderData: keepPreviousData,
  })
  const byVisitors = subject === 'clicks' && view.metric === 'visitors'
  const rows = useMemo(() => {
    const short =
      dimension === 'linkId'
        ? withoutDomain(query.data?.map(({ name }) => name) ?? [])
        : (name: string) => name
    const shown = query.data?.map(
      (row): TopRow => ({
        ...row,
        label: row.name ? short(row.name) : valueName(dimension, row.value),
        shown: byVisitors ? row.visitors : row.count,
      }),
    )
    return byVisitors ? shown?.sort((a, b) => b.shown - a.shown) : shown
  }, [query.data, dimension, byVisitors])
  return { ...query, rows }
}
