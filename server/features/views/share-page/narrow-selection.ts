// Narrows what a view selects by what a visitor of its shared page asks for. Filters are added to those of the view, and
// the range is the part that both have: nothing that the view leaves out can be counted.

import { z } from '@hono/zod-openapi'
import { invalid } from '../../../lib/failure.ts'
import { RANGE_PARAMETERS } from '../../analytics/parameters.ts'
import { type AnswerContext, resolveRange, type WorkspaceScope } from '../../analytics/resolve-selection.ts'
import type { TimeRange } from '../../analytics/timeline.ts'
import {
  isViewFilter,
  toViewSelection,
  type ViewSelection,
  type ViewSettings,
  type WrittenFilters,
} from '../view-selection.ts'

export const RANGE_NAMES = Object.keys(RANGE_PARAMETERS)
const RANGE = z.object(RANGE_PARAMETERS)

/** The filters and the range in the query of a shared page. All other parameters mean nothing here. */
export interface AskedView {
  filters: WrittenFilters
  range: z.infer<typeof RANGE>
}

/** @throws Failure `invalid` */
export function readAskedView(query: URLSearchParams): AskedView {
  const named = (names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name): [string, string | string[]][] => {
        const values = query.getAll(name)
        return values.length === 0 ? [] : [[name, values.length === 1 ? (values[0] as string) : values]]
      }),
    )
  const range = RANGE.safeParse(named(RANGE_NAMES))
  if (range.success)
    return { filters: named([...new Set(query.keys())].filter(isViewFilter)), range: range.data }
  throw invalid(Object.fromEntries(range.error.issues.map(({ path, message }) => [String(path[0]), message])))
}

export interface NarrowedSelection {
  selection: ViewSelection
  /** The range of the view. */
  whole: TimeRange
}

/** @throws Failure `invalid` for a wrong parameter, and for one that nothing in the view has */
export async function narrowSelection(
  needs: AnswerContext,
  scope: WorkspaceScope,
  settings: ViewSettings,
  { filters, range }: AskedView,
): Promise<NarrowedSelection> {
  const view = toViewSelection(settings)
  const { interval = null, start = null, end = null, timezone = settings.timezone } = range
  const asked = toViewSelection({ filters, interval, start, end, timezone, model: settings.model })
  const whole = await resolveRange(needs, scope, view)
  const isNarrower = interval !== null || start !== null || end !== null
  const chosen = isNarrower ? intersect(whole, await resolveRange(needs, scope, asked)) : whole
  const both = { range: chosen, timezone }
  const clicks = view.clicks && asked.clicks && narrowClicks(view.clicks, asked.clicks, filters)
  const leads = view.leads &&
    asked.leads && { ...view.leads, filters: [...view.leads.filters, ...asked.leads.filters] }
  return {
    selection: { ...both, clicks: clicks && { ...clicks, ...both }, leads: leads && { ...leads, ...both } },
    whole,
  }
}

const outside = (name: string) => invalid({ [name]: 'is outside of this view' })

function intersect(whole: TimeRange, asked: TimeRange): TimeRange {
  const range = { start: Math.max(whole.start, asked.start), end: Math.min(whole.end, asked.end) }
  if (range.start >= range.end) throw outside('start')
  return range
}

type Clicks = NonNullable<ViewSelection['clicks']>

function narrowClicks(view: Clicks, asked: Clicks, filters: WrittenFilters): Clicks {
  const classes =
    'class' in filters ? view.classes.filter((each) => asked.classes.includes(each)) : view.classes
  if (classes.length === 0) throw outside('class')
  if (view.imported !== undefined && asked.imported !== undefined && view.imported !== asked.imported)
    throw outside('imported')
  return {
    ...view,
    classes,
    imported: view.imported ?? asked.imported,
    filters: [...view.filters, ...asked.filters],
  }
}
