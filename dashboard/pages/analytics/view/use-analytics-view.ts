// What the page shows, read from its address, and the way to change it. Everything one can set stands there, so that a
// view can be sent to somebody, and is there again after a reload.

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type { FunnelBy } from '../../../api/analytics.ts'
import type { QueryParameters } from '../../../api/client.ts'
import { viewerZone } from '../../../ui/format.ts'
import { type DateRange, GRANULARITIES, type Granularity, INTERVALS, isTimeZone } from './date-range.ts'
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
  | 'metric'
  | 'model'
  | 'funnel'
  | 'tabs'
type Search = Partial<Record<ParameterName, string>>

/** What the page is about and cannot be taken away, such as the link whose page it is. */
export type FixedFilters = Partial<Record<Dimension, string | number>>

export interface AnalyticsView {
  fixed: FixedFilters
  filters: { dimension: Dimension; filter: DimensionFilter }[]
  range: DateRange
  timezone: string
  granularity: Granularity | undefined
  metric: AnalyticsMetric
  model: AttributionModel
  hitClass: HitClass | undefined
  funnel: FunnelBy
  /** The ones that are open. */
  tabs: string[]
  /** What the API is asked; null where a filter is about something that these do not have. */
  clicks: QueryParameters | null
  leads: QueryParameters | null
  /** As leads, but forms and pages are none of its business. */
  stages: QueryParameters | null
  findFilter: (dimension: Dimension) => DimensionFilter | undefined
  set: (patch: Search) => void
  setFilter: (dimension: Dimension, filter: DimensionFilter) => void
  /** is, or is not */
  toggle: (dimension: Dimension, value: string, negate?: boolean) => void
  clear: () => void
}

const FUNNEL_GROUPINGS: FunnelBy[] = ['link', 'tag', 'campaign', 'referrer', 'country']

const findKnown = <T extends string>(value: string | undefined, known: readonly T[]) =>
  known.find((each) => each === value)

const listKeys = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[]

function readRange({ interval, start, end }: Search): DateRange {
  if (start || end) return { start, end }
  return { interval: findKnown(interval, INTERVALS) ?? '30d' }
}

function readView(search: Search, fixed: FixedFilters) {
  const filters = DIMENSION_NAMES.flatMap((dimension) => {
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
  const hitClass = findKnown(
    search.class,
    listKeys(HIT_CLASS_LABELS).filter((each) => each !== 'human'),
  )
  const model = findKnown(search.model, listKeys(ATTRIBUTION_MODEL_LABELS)) ?? 'last'
  const asked: QueryParameters = { ...range, timezone }
  for (const { dimension, filter } of filters) asked[dimension] = writeFilter(filter)
  for (const [dimension, value] of Object.entries(fixed)) {
    asked[dimension] = writeFilter({ values: [String(value)], negate: false })
  }
  const named = [...filters.map(({ dimension }) => dimension), ...(Object.keys(fixed) as Dimension[])]
  const clicks = named.every((each) => appliesTo(each, 'clicks')) ? { ...asked, class: hitClass } : null
  const leads = named.every((each) => appliesTo(each, 'leads')) && !hitClass ? { ...asked, model } : null
  const wanted = findKnown(search.metric, listKeys(METRIC_LABELS)) ?? 'clicks'
  return {
    fixed,
    filters,
    range,
    timezone,
    granularity: findKnown(search.granularity, GRANULARITIES),
    // A filter that only the others can be asked about decides.
    metric: (wanted === 'leads' ? leads : clicks) || !(leads || clicks) ? wanted : leads ? 'leads' : 'clicks',
    model,
    hitClass,
    funnel: findKnown(search.funnel, FUNNEL_GROUPINGS) ?? 'link',
    tabs: search.tabs?.split(',') ?? [],
    clicks,
    leads,
    stages: leads && clicks ? leads : null,
  } as const
}

/** Why these cannot be counted under the filters that are set. */
export function explainUnavailable(
  { filters, hitClass }: AnalyticsView,
  subject: 'clicks' | 'leads',
): string {
  const strange = filters.filter(({ dimension }) => !appliesTo(dimension, subject))
  const labels = strange.map(({ dimension }) => getDimensionInfo(dimension).label.toLowerCase())
  const what = subject === 'clicks' ? 'A click' : 'A lead'
  if (labels.length > 0)
    return `${what} has no ${labels.join(' and no ')}: take that filter away to see them.`
  return hitClass ? 'Leads come from people: count those to see them.' : ''
}

const NO_FILTERS = Object.fromEntries(['class', ...DIMENSION_NAMES].map((name) => [name, undefined]))

/** @param fixed must stay the same between renders */
export function useAnalyticsView(fixed: FixedFilters): AnalyticsView {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const set = useCallback(
    (patch: Search) => {
      const change = (before: Search) => ({ ...before, ...patch })
      void navigate({ to: '.', search: change as never, replace: true, resetScroll: false })
    },
    [navigate],
  )
  return useMemo(() => {
    const view = readView(search, fixed)
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
      clear: () => set(NO_FILTERS),
    }
  }, [search, fixed, set])
}
