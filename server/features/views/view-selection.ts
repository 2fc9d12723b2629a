// The selection of a view: filters of clicks and leads, written as the parameters of analytics are, and a range. Turns
// them into the selections that analytics counts.

import { z } from '@hono/zod-openapi'
import { invalid } from '../../lib/failure.ts'
import { isParamColumn } from '../../storage/hits/kept-params.ts'
import type { AttributionModel } from '../analytics/attribution-model.ts'
import { LeadParameters, type LeadQuestion, toLeadQuestion } from '../analytics/leads-schema.ts'
import { filterParameter, type QuestionSelection, toSelection } from '../analytics/parameters.ts'
import { ClickParameters, type ClickSelection, toClickSelection } from '../analytics/schema.ts'
import type { Interval, TimeRange } from '../analytics/timeline.ts'

/** Parameters of analytics that choose no rows, or that are settings of a view. */
const NO_FILTERS = new Set<string>([
  'interval',
  'start',
  'end',
  'timezone',
  'groupBy',
  'granularity',
  'limit',
  'explain',
  'model',
  'currency',
])

const pickFilters = (shape: z.ZodRawShape) =>
  Object.fromEntries(Object.entries(shape).filter(([name]) => !NO_FILTERS.has(name)))

const CLICK_FILTERS = pickFilters(ClickParameters.shape)
const LEAD_FILTERS = pickFilters(LeadParameters.shape)
const FILTERS = z
  .object({ ...LEAD_FILTERS, ...CLICK_FILTERS })
  // Of kept parameters, `param.<name>`.
  .catchall(filterParameter('param.'))

const isClickFilter = (name: string) => Object.hasOwn(CLICK_FILTERS, name) || isParamColumn(name)
const isLeadFilter = (name: string) => Object.hasOwn(LEAD_FILTERS, name)

export const isViewFilter = (name: string) => isClickFilter(name) || isLeadFilter(name)

/** Each as its parameter is written; a repeated parameter is a list. */
export type WrittenFilters = Record<string, string | string[]>

export interface ViewSettings {
  filters: WrittenFilters
  /** Null where the range has a start or an end. */
  interval: Interval | null
  start: string | null
  end: string | null
  timezone: string
  model: AttributionModel
}

/** The leads of a view. */
export type ViewLeads = Pick<LeadQuestion, 'range' | 'timezone' | 'filters' | 'model'>

/** Null where a filter applies only to the other subject, as in the dashboard. */
export interface ViewSelection {
  range: QuestionSelection['range']
  timezone: string
  clicks: ClickSelection | null
  leads: ViewLeads | null
}

/** Finds the mistake of each filter. @returns an empty object where there is none */
export function findFilterProblems(filters: WrittenFilters): Record<string, string> {
  const issues = FILTERS.safeParse(filters).error?.issues ?? []
  const problems = Object.keys(filters)
    .filter((name) => !isViewFilter(name))
    .map((name) => [name, 'is not a filter of analytics'])
  return Object.fromEntries([...issues.map(({ path, message }) => [String(path[0]), message]), ...problems])
}

/** @throws Failure `invalid` for a range that cannot be, and for a wrong filter */
export function toViewSelection({ filters, model, ...range }: ViewSettings): ViewSelection {
  const problems = findFilterProblems(filters)
  if (Object.keys(problems).length > 0) throw invalid(problems)
  const written = Object.fromEntries(Object.entries(range).filter(([, value]) => value !== null))
  const { range: chosen, timezone } = toSelection(written, [])
  if ('start' in chosen && chosen.start !== null && chosen.end !== null && chosen.start >= chosen.end)
    throw invalid({ start: 'must be before end' })
  const names = Object.keys(filters)
  const hasLeads = names.every(isLeadFilter)
  const clicks = names.every(isClickFilter)
    ? toClickSelection(ClickParameters.parse({ ...filters, ...written }))
    : null
  const { range: _, ...leads } = toLeadQuestion(
    LeadParameters.parse({ ...(hasLeads ? filters : {}), model, timezone }),
  )
  return {
    range: chosen,
    timezone,
    clicks,
    leads: hasLeads ? { ...leads, range: chosen } : null,
  }
}

export function withRange(selection: ViewSelection, range: TimeRange): ViewSelection {
  const { clicks, leads } = selection
  return { ...selection, range, clicks: clicks && { ...clicks, range }, leads: leads && { ...leads, range } }
}
