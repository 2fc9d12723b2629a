// What the values of a filter are called: ids have names that the API knows.

import { useQuery } from '@tanstack/react-query'
import { valueNamesQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { type Dimension, formatDimensionValue } from './dimensions.ts'

/** Until the names are there, and for what is deleted, the id. */
export function useValueNames(dimension: Dimension, values: string[]): (value: string) => string {
  const api = useApi()
  const named = dimension === 'linkId' || dimension === 'tagId' || dimension === 'form'
  const ids = values.filter((value) => value !== '0')
  const { data } = useQuery({
    ...valueNamesQuery(api, named ? dimension : 'linkId', ids),
    enabled: named && ids.length > 0,
  })
  return (value) => data?.[value] ?? formatDimensionValue(dimension, value)
}
