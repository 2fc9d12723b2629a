// A filter by days: a button that shows the range, and opens a window to choose another.

import { CalendarDays } from 'lucide-react'
import { useState } from 'react'
import { classNames } from '../class-names.ts'
import { formatDay } from '../format.ts'
import { Popover } from '../overlays/popover.tsx'
import { CONTROL } from './control-class.ts'
import { Field } from './field.tsx'
import { RangeMenu } from './range-menu.tsx'

/** Days such as `2026-11-21`. */
interface Days {
  start?: string | undefined
  end?: string | undefined
}

const DAY_MS = 86_400_000
/** Swedish writes dates as ISO 8601 does. */
const toDay = (daysAgo: number) => new Date(Date.now() - daysAgo * DAY_MS).toLocaleDateString('sv')
const lastDays = (days: number): Days => ({ start: toDay(days - 1), end: toDay(0) })

const listPresets = () => [
  { name: 'Any time', range: {} as Days },
  { name: 'Today', range: lastDays(1) },
  { name: 'Yesterday', range: { start: toDay(1), end: toDay(1) } },
  { name: 'Last 7 days', range: lastDays(7) },
  { name: 'Last 30 days', range: lastDays(30) },
  { name: 'Last 90 days', range: lastDays(90) },
]

/** A text from the address may be no day. */
const format = (day: string) =>
  Number.isNaN(Date.parse(`${day}T12:00:00`)) ? day : formatDay(`${day}T12:00:00`)

function describe(presets: ReturnType<typeof listPresets>, { start, end }: Days): string {
  const preset = presets.find(({ range }) => range.start === start && range.end === end)
  if (preset) return preset.name
  if (start && end) return start === end ? format(start) : `${format(start)} – ${format(end)}`
  return start ? `Since ${format(start)}` : `Until ${format(end ?? '')}`
}

export function DayRangeField({ start, end, onChange }: Days & { onChange: (days: Days) => void }) {
  const [open, setOpen] = useState(false)
  const presets = listPresets()
  return (
    <Field label="Period" className="grid-cols-[minmax(0,1fr)]">
      {({ id }) => (
        <Popover
          label="Period"
          open={open}
          onOpenChange={setOpen}
          trigger={
            <button
              type="button"
              id={id}
              aria-labelledby={`${id}-label ${id}`}
              className={classNames(CONTROL, 'flex h-9 items-center gap-2 pr-2.5 text-left')}
            >
              <span className="min-w-0 flex-1 truncate">{describe(presets, { start, end })}</span>
              <CalendarDays size={15} aria-hidden className="shrink-0 text-soft" />
            </button>
          }
        >
          <RangeMenu
            presets={presets}
            range={{ start, end }}
            days={{ start: start ?? toDay(29), end: end ?? toDay(0) }}
            max={toDay(0)}
            choose={(range) => {
              onChange(range)
              setOpen(false)
            }}
          />
        </Popover>
      )}
    </Field>
  )
}
