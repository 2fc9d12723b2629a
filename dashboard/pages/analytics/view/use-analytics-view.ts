// The settings of the analytics page, read from its address, and functions that change them. All settings are in the
// address, so that a view can be shared and survives a reload.

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type { FunnelBy } from '../../../api/analytics.ts'
import type { QueryParameters } from '../../../api/client.ts'
import { viewerZone } from '../../../ui/format.ts'
import { inSentence } from '../../../ui/text.ts'
import {
  COMPARISONS,
  type Comparison,
  type DateRange,
  GRANULARITIES,
  type Granularity,
  INTERVALS,
  isTimeZone,
} from './date-range.ts'
import { type DimensionFilter, readFilter, toggleValue, writeFilter } from './dimension-filter.ts'
import {
  type AnalyticsMetric,
  ATTRIBUTION_MODEL_LABELS,
  type AttributionModel,
  appliesTo,
  DIMENSION_NAMES,
  type Dimension,
  getDimensionInfo,
  HIT_CLASS_LABELS,
  type HitClass,
  isParamDimension,
  METRIC_LABELS,
} from './dimensions.ts'

type ParameterName =
  | Dimension
  | 'class'
  | 'interval'
  | 'start'
  | 'end'
  | 'timezone'
  | 'granularity'
  | 'compare'
  | 'metric'
  | 'model'
  | 'funnel'
  | 'tabs'
type Search = Partial<Record<ParameterName, string>>

/** Filters that the user cannot remove, such as the link on the page of one link. */
export type FixedFilters = Partial<Record<Dimension, string | number>>

export interface AnalyticsView {
  fixed: FixedFilters
  filters: { dimension: Dimension; filter: DimensionFilter }[]
  range: DateRange
  timezone: string
  granularity: Granularity | undefined
  compare: Comparison
  metric: AnalyticsMetric
  model: AttributionModel
  hitClass: HitClass | undefined
  funnel: FunnelBy
  /** The selected tabs of the top lists. */
  tabs: string[]
  /** Parameters of the API's queries; null where a filter does not apply to the subject. */
  clicks: QueryParameters | null
  leads: QueryParameters | null
  /** Parameters of the funnel; null where a filter applies only to clicks or only to leads. */
  stages: QueryParameters | null
  findFilter: (dimension: Dimension) => DimensionFilter | undefined
  set: (patch: Search) => void
  setFilter: (dimension: Dimension, filter: DimensionFilter) => void
  /** @param negate "is not" in place of "is" */
  toggle: (dimension: Dimension, value: string, negate?: boolean) => void
  clear: () => void
}

const FUNNEL_GROUPINGS: FunnelBy[] = ['link', 'tag', 'campaign', 'source', 'channel', 'referrer', 'country']

const findOption = <T extends string>(value: string | undefined, options: readonly T[]) =>
  options.find((each) => each === value)

const listKeys = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[]

function readRange({ interval, start, end }: Search): DateRange {
  if (start || end) return { start, end }
  return { interval: findOption(interval, INTERVALS) ?? '30d' }
}

function readView(search: Search, fixed: FixedFilters) {
  const params = Object.keys(search).filter(isParamDimension)
  const filters = [...DIMENSION_NAMES, ...params].flatMap((dimension) => {
    const text = search[dimension]
    if (!text || dimension in fixed) return []
    const filter = readFilter(text)
    return filter.values.length > 0 ? [{ dimension, filter }] : []
  })
  const range = readRange(search)
  const timezone =
    search.timezone && isTimeZone(search.timezone)
      ? search.timezone
      : isTimeZone(viewerZone)
        ? viewerZone
        : 'UTC'
  const hitClass = findOption(
    search.class,
    listKeys(HIT_CLASS_LABELS).filter((each) => each !== 'human'),
  )
  const model = findOption(search.model, listKeys(ATTRIBUTION_MODEL_LABELS)) ?? 'last'
  const parameters: QueryParameters = { ...range, timezone }
  for (const { dimension, filter } of filters) parameters[dimension] = writeFilter(filter)
  for (const [dimension, value] of Object.entries(fixed)) {
    parameters[dimension] = writeFilter({ values: [String(value)], negate: false })
  }
  const dimensions = [...filters.map(({ dimension }) => dimension), ...(Object.keys(fixed) as Dimension[])]
  const clicks = dimensions.every((each) => appliesTo(each, 'clicks'))
    ? { ...parameters, class: hitClass }
    : null
  const leads =
    dimensions.every((each) => appliesTo(each, 'leads')) && !hitClass ? { ...parameters, model } : null
  const requested = findOption(search.metric, listKeys(METRIC_LABELS)) ?? 'clicks'
  return {
    fixed,
    filters,
    range,
    timezone,
    granularity: findOption(search.granularity, GRANULARITIES),
    compare: findOption(search.compare, COMPARISONS) ?? 'previous',
    // If a filter excludes the requested metric, the other one is shown.
    metric:
      (requested === 'leads' ? leads : clicks) || !(leads || clicks) ? requested : leads ? 'leads' : 'clicks',
    model,
    hitClass,
    funnel: findOption(search.funnel, FUNNEL_GROUPINGS) ?? 'link',
    tabs: search.tabs?.split(',') ?? [],
    clicks,
    leads,
    stages: leads && clicks ? leads : null,
  } as const
}

/** Why the subject cannot be counted under the current filters; '' if it can. */
export function explainUnavailable(
  { filters, hitClass }: AnalyticsView,
  subject: 'clicks' | 'leads',
): string {
  const excluding = filters.filter(({ dimension }) => !appliesTo(dimension, subject))
  const labels = excluding.map(({ dimension }) => inSentence(getDimensionInfo(dimension).label))
  const name = subject === 'clicks' ? 'Clicks' : 'Leads'
  if (labels.length > 0)
    return `${name} have no ${labels.join(' and no ')}. Remove that filter to see ${subject}.`
  return hitClass ? 'Leads are counted for people only. Select “People” to see leads.' : ''
}

const NO_FILTERS = Object.fromEntries(['class', ...DIMENSION_NAMES].map((name) => [name, undefined]))

/** @param fixed must stay the same between renders */
export function useAnalyticsView(fixed: FixedFilters): AnalyticsView {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const set = useCallback(
    (patch: Search) => {
      const change = (current: Search) => ({ ...current, ...patch })
      void navigate({ to: '.', search: change as never, replace: true, resetScroll: false })
    },
    [navigate],
  )
  return useMemo(() => {
    const view = readView(search, fixed)
    const params = Object.keys(search).filter(isParamDimension)
    const findFilter = (dimension: Dimension) =>
      view.filters.find((each) => each.dimension === dimension)?.filter
    const setFilter = (dimension: Dimension, filter: DimensionFilter) =>
      set({ [dimension]: writeFilter(filter) })
    return {
      ...view,
      findFilter,
      set,
      setFilter,
      toggle: (dimension, value, negate = false) =>
        setFilter(dimension, toggleValue(findFilter(dimension), value, negate)),
      clear: () => set({ ...NO_FILTERS, ...Object.fromEntries(params.map((name) => [name, undefined])) }),
    }
  }, [search, fixed, set])
}
