// A saved view as the page's address, and the page as the settings of a view.

import type { UpdateViewInput, ViewResource } from '../../../../server/features/views/schema.ts'
import { writeFilter } from '../view/dimension-filter.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

type ViewSettings = Required<
  Pick<UpdateViewInput, 'filters' | 'interval' | 'start' | 'end' | 'timezone' | 'model'>
>

export function toViewSettings({ filters, range, timezone, model, hitClass }: AnalyticsView): ViewSettings {
  const written = filters.flatMap(({ dimension, filter }): [string, string][] => {
    const text = writeFilter(filter)
    return text === undefined ? [] : [[dimension, text]]
  })
  return {
    filters: { ...Object.fromEntries(written), ...(hitClass && { class: hitClass }) },
    interval: range.interval ?? null,
    start: range.start ?? null,
    end: range.end ?? null,
    timezone,
    model,
  }
}

/** The parameters of the page that shows the view. */
export function toViewSearch(view: ViewResource): Record<string, string> {
  const { filters, interval, start, end, timezone, model } = view
  const settings = { interval, start, end, timezone, model: model === 'last' ? null : model }
  const set = Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== null)
  return { ...filters, ...Object.fromEntries(set) }
}
