// Which time: a button that says it, with the steps before and after, and a window to choose.

import { CalendarDays, ChevronLeft, ChevronRight } from 'lucide-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Popover } from '../../../ui/overlays/popover.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { useShortcuts } from '../../../ui/shortcuts.ts'
import { SkeletonRows } from '../../../ui/states.tsx'
import { type DateRange, type Interval, shiftDays, toDaySpan, today } from '../view/date-range.ts'
import { formatRange } from '../view/time-labels.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'

const RangeMenu = lazy(() => import('./range-menu.tsx').then(({ RangeMenu }) => ({ default: RangeMenu })))

export const chooseRange = (view: AnalyticsView, range: DateRange) =>
  view.set({
    interval: range.interval === '30d' ? undefined : range.interval,
    start: range.start,
    end: range.end,
    // What suits a day does not suit a year.
    granularity: undefined,
  })

const KEYS: [string, Interval][] = [
  ['h', '24h'],
  ['w', '7d'],
  ['m', '30d'],
  ['q', '90d'],
  ['y', '1y'],
]
const NAMES: Record<string, string> = {
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
  '90d': 'the last 90 days',
  '1y': 'the last 12 months',
}

export function RangePicker({ view }: { view: AnalyticsView }) {
  const [open, setOpen] = useState(false)
  const shortcuts = useMemo(
    () => [
      ...KEYS.map(([keys, interval]) => ({
        keys,
        label: `Show ${NAMES[interval]}`,
        run: () => chooseRange(view, { interval }),
      })),
      { keys: 't', label: 'Show today', run: () => chooseRange(view, { start: today(view.timezone) }) },
      { keys: ',', label: 'The period before', run: () => shiftRange(view, -1) },
      { keys: '.', label: 'The period after', run: () => shiftRange(view, 1) },
      { keys: 'r', label: 'Choose a range', run: () => setOpen(true) },
    ],
    [view],
  )
  useShortcuts(shortcuts)
  const name = formatRange(view.range, view.timezone)
  return (
    <div className="flex min-w-0 items-center">
      <Popover
        open={open}
        onOpenChange={setOpen}
        label="Range of time"
        trigger={
          <Button icon={<CalendarDays size={15} className="shrink-0" />} className="min-w-0">
            <span className="truncate">{name}</span>
          </Button>
        }
      >
        <Suspense
          fallback={
            <div className="w-72 p-3">
              <SkeletonRows rows={6} className="h-8" />
            </div>
          }
        >
          <RangeMenu view={view} close={() => setOpen(false)} />
        </Suspense>
      </Popover>
      <IconButton
        label="The period before"
        onClick={() => shiftRange(view, -1)}
        disabled={view.range.interval === 'all'}
      >
        <ChevronLeft size={16} />
      </IconButton>
      <IconButton
        label="The period after"
        onClick={() => shiftRange(view, 1)}
        disabled={view.range.end === undefined}
      >
        <ChevronRight size={16} />
      </IconButton>
    </div>
  )
}

/** To the days before or after; what lies ahead cannot have been counted. */
function shiftRange(view: AnalyticsView, direction: -1 | 1) {
  const days = toDaySpan(view.range, view.timezone)
  if (!days) return
  const now = today(view.timezone)
  const next = shiftDays(days, direction, now)
  if (next.start > now) toast('This is the latest.')
  else chooseRange(view, next)
}
