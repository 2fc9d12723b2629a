// Sets the date range of a view.

import type { DateRange } from '../view/date-range.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

export const chooseRange = (view: AnalyticsView, range: DateRange) =>
  view.set({
    interval: range.interval === '30d' ? undefined : range.interval,
    start: range.start,
    end: range.end,
    // A granularity that suits a day does not suit a year.
    granularity: undefined,
  })
