// Zooms the page in on a part of the chart, and back to the range that was there before.

import { useState } from 'react'
import type { DateRange } from '../view/date-range.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

export interface Zoom {
  zoomIn(range: DateRange): void
  /** Back to the range before the first zoom; undefined when nothing is zoomed. */
  reset: (() => void) | undefined
}

type Settings = DateRange & Pick<AnalyticsView, 'granularity'>

const toText = ({ interval, start, end }: DateRange) => JSON.stringify([interval, start, end])

export function useZoom({ range, granularity, set }: AnalyticsView): Zoom {
  const [zoomed, setZoomed] = useState<{ to: DateRange; before: Settings }>()
  // Another range, chosen elsewhere, is no zoom.
  const current = zoomed && toText(zoomed.to) === toText(range) ? zoomed : undefined
  const show = ({ interval, start, end, granularity }: Settings) =>
    set({ interval: interval === '30d' ? undefined : interval, start, end, granularity })
  return {
    zoomIn(to) {
      setZoomed({ to, before: current?.before ?? { ...range, granularity } })
      show({ ...to, granularity: undefined })
    },
    reset: current && (() => show(current.before)),
  }
}
