// The names of a filter's values. For ids, the API knows the names.

import { useQuery } from '@tanstack/react-query'
import { valueNamesQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { type Dimension, formatDimensionValue } from './dimensions.ts'

/** Returns the id itself until the names have loaded, and for deleted items. */
export function useValueNames(dimension: Dimension, values: string[]): (value: string) => string {
  const api = useApi()
  const hasNames = dimension === 'linkId' || dimension === 'tagId' || dimension === 'form'
  const ids = values.filter((value) => value !== '0')
  const { data } = useQuery({
    ...valueNamesQuery(api, hasNames ? dimension : 'linkId', ids),
    enabled: hasNames && ids.length > 0,
  })
  return (value) => data?.[value] ?? formatDimensionValue(dimension, value)
}
