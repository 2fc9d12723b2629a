// What the page shows, read from its address, and the way to change it. Everything one can set stands there, so that a
// view can be sent to somebody, and is there again after a reload.

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type { FunnelBy } from '../../api/analytics.ts'
import type { Query } from '../../api/client.ts'
import { viewerZone } from '../../ui/format.ts'
import {
  CLASSES,
  canAsk,
  DIMENSION_NAMES,
  type Dimension,
  factsOf,
  type HitClass,
  METRICS,
  type Metric,
  MODELS,
  type Model,
} from './dimensions.ts'
import { type Filter, readFilter, toggleValue, writeFilter } from './filters.ts'
import { GRANULARITIES, type Granularity, INTERVALS, isZone, type Range } from './range.ts'

type Name =
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
type Search = Partial<Record<Name, string>>

/** What the page is about and cannot be taken away, such as the link whose page it is. */
export type Fixed = Partial<Record<Dimension, string | number>>

export interface View {
  fixed: Fixed
  filters: { dimension: Dimension; filter: Filter }[]
  range: Range
  timezone: string
  granularity: Granularity | undefined
  metric: Metric
  model: Model
  hitClass: HitClass | undefined
  funnel: FunnelBy
  /** The ones that are open. */
  tabs: string[]
  /** What the API is asked; null where a filter is about something that these do not have. */
  clicks: Query | null
  leads: Query | null
  /** As leads, but forms and pages are none of its business. */
  stages: Query | null
  filterOf: (dimension: Dimension) => Filter | undefined
  set: (patch: Search) => void
  setFilter: (dimension: Dimension, filter: Filter) => void
  /** is, or is not */
  toggle: (dimension: Dimension, value: string, negate?: boolean) => void
  clear: () => void
}

const FUNNELS: FunnelBy[] = ['link', 'tag', 'campaign', 'referrer', 'country']

const oneOf = <T extends string>(value: string | undefined, known: readonly T[]) =>
  known.find((each) => each === value)

const keysOf = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[]

function readRange({ interval, start, end }: Search): Range {
  if (start || end) return { start, end }
  return { interval: oneOf(interval, INTERVALS) ?? '30d' }
}

function readView(search: Search, fixed: Fixed) {
  const filters = DIMENSION_NAMES.flatMap((dimension) => {
    const text = search[dimension]
    if (!text || dimension in fixed) return []
    const filter = readFilter(text)
    return filter.values.length > 0 ? [{ dimension, filter }] : []
  })
  const range = readRange(search)
  const timezone =
    search.timezone && isZone(search.timezone) ? search.timezone : isZone(viewerZone) ? viewerZone : 'UTC'
  const hitClass = oneOf(
    search.class,
    keysOf(CLASSES).filter((each) => each !== 'human'),
  )
  const model = oneOf(search.model, keysOf(MODELS)) ?? 'last'
  const asked: Query = { ...range, timezone }
  for (const { dimension, filter } of filters) asked[dimension] = writeFilter(filter)
  for (const [dimension, value] of Object.entries(fixed)) {
    asked[dimension] = writeFilter({ values: [String(value)], negate: false })
  }
  const named = [...filters.map(({ dimension }) => dimension), ...(Object.keys(fixed) as Dimension[])]
  const clicks = named.every((each) => canAsk(each, 'clicks')) ? { ...asked, class: hitClass } : null
  const leads = named.every((each) => canAsk(each, 'leads')) && !hitClass ? { ...asked, model } : null
  const wanted = oneOf(search.metric, keysOf(METRICS)) ?? 'clicks'
  return {
    fixed,
    filters,
    range,
    timezone,
    granularity: oneOf(search.granularity, GRANULARITIES),
    // A filter that only the others can be asked about decides.
    metric: (wanted === 'leads' ? leads : clicks) || !(leads || clicks) ? wanted : leads ? 'leads' : 'clicks',
    model,
    hitClass,
    funnel: oneOf(search.funnel, FUNNELS) ?? 'link',
    tabs: search.tabs?.split(',') ?? [],
    clicks,
    leads,
    stages: leads && clicks ? leads : null,
  } as const
}

/** Why these cannot be counted under the filters that are set. */
export function whyNot({ filters, hitClass }: View, subject: 'clicks' | 'leads'): string {
  const strange = filters.filter(({ dimension }) => !canAsk(dimension, subject))
  const labels = strange.map(({ dimension }) => factsOf(dimension).label.toLowerCase())
  const what = subject === 'clicks' ? 'A click' : 'A lead'
  if (labels.length > 0)
    return `${what} has no ${labels.join(' and no ')}: take that filter away to see them.`
  return hitClass ? 'Leads come from people: count those to see them.' : ''
}

const NO_FILTERS = Object.fromEntries(['class', ...DIMENSION_NAMES].map((name) => [name, undefined]))

/** @param fixed must stay the same between renders */
export function useView(fixed: Fixed): View {
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
    const filterOf = (dimension: Dimension) =>
      view.filters.find((each) => each.dimension === dimension)?.filter
    const setFilter = (dimension: Dimension, filter: Filter) => set({ [dimension]: writeFilter(filter) })
    return {
      ...view,
      filterOf,
      set,
      setFilter,
      toggle: (dimension, value, negate = false) =>
        setFilter(dimension, toggleValue(filterOf(dimension), value, negate)),
      clear: () => set(NO_FILTERS),
    }
  }, [search, fixed, set])
}
