// The date range: a button that opens the menu, and buttons for the previous and the next period.

import { CalendarDays, ChevronLeft, ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Button, IconButton } from '../../../ui/button.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Popover } from '../../../ui/overlays/popover.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { useShortcuts } from '../../../ui/shortcuts.ts'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { type Interval, shiftDays, toDaySpan, today } from '../view/date-range.ts'
import { formatRange } from '../view/time-labels.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { chooseRange } from './choose-range.ts'

const AnalyticsRangeMenu = lazyPart(
  () => import('./range-menu.tsx'),
  'AnalyticsRangeMenu',
  <div className="w-72 p-3">
    <SkeletonRows rows={6} className="h-8" />
  </div>,
)

const SHORTCUT_INTERVALS: [string, Interval][] = [
  ['h', '24h'],
  ['w', '7d'],
  ['m', '30d'],
  // `q` shows the QR code of a link.
  ['9', '90d'],
  ['y', '1y'],
]
const INTERVAL_PHRASES: Record<string, string> = {
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
      ...SHORTCUT_INTERVALS.map(([keys, interval]) => ({
        keys,
        label: `Show ${INTERVAL_PHRASES[interval]}`,
        run: () => chooseRange(view, { interval }),
      })),
      { keys: 't', label: 'Show today', run: () => chooseRange(view, { start: today(view.timezone) }) },
      { keys: ',', label: 'Previous period', run: () => shiftRange(view, -1) },
      { keys: '.', label: 'Next period', run: () => shiftRange(view, 1) },
      { keys: 'r', label: 'Choose date range', run: () => setOpen(true) },
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
        label="Date range"
        trigger={
          <Button icon={<CalendarDays size={15} className="shrink-0" />} className="min-w-0">
            <span className="truncate">{name}</span>
          </Button>
        }
      >
        <AnalyticsRangeMenu view={view} close={() => setOpen(false)} />
      </Popover>
      <IconButton
        label="Previous period"
        onClick={() => shiftRange(view, -1)}
        disabled={view.range.interval === 'all'}
      >
        <ChevronLeft size={16} />
      </IconButton>
      <IconButton
        label="Next period"
        onClick={() => shiftRange(view, 1)}
        disabled={view.range.end === undefined}
      >
        <ChevronRight size={16} />
      </IconButton>
    </div>
  )
}

/** Moves the range by its own length; a range in the future has no data. */
function shiftRange(view: AnalyticsView, direction: -1 | 1) {
  const days = toDaySpan(view.range, view.timezone)
  if (!days) return
  const currentDay = today(view.timezone)
  const next = shiftDays(days, direction, currentDay)
  if (next.start > currentDay) toast('This is the latest period')
  else chooseRange(view, next)
}
