// The window for the date range and the time zone.

import { Check } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { viewerZone } from '../../../ui/format.ts'
import { SelectField, TextField } from '../../../ui/forms/field.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import {
  addDays,
  DATE_PATTERN,
  type DateRange,
  INTERVAL_NAMES,
  INTERVALS,
  startOfWeek,
  today,
} from '../view/date-range.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { chooseRange } from './choose-range.ts'

interface Preset {
  name: string
  range: DateRange
}

function listPresets(zone: string): Preset[] {
  const currentDay = today(zone)
  const yesterday = addDays(currentDay, -1)
  const firstOfMonth = `${currentDay.slice(0, 8)}01`
  const endOfLastMonth = addDays(firstOfMonth, -1)
  const monday = startOfWeek(currentDay)
  const intervals = INTERVALS.map((interval) => ({ name: INTERVAL_NAMES[interval], range: { interval } }))
  return [
    { name: 'Today', range: { start: currentDay } },
    { name: 'Yesterday', range: { start: yesterday, end: yesterday } },
    { name: 'This week', range: { start: monday } },
    { name: 'Last week', range: { start: addDays(monday, -7), end: addDays(monday, -1) } },
    ...intervals.slice(0, -1),
    { name: 'Last month', range: { start: `${endOfLastMonth.slice(0, 8)}01`, end: endOfLastMonth } },
    ...intervals.slice(-1),
  ]
}

const isSameRange = (a: DateRange, b: DateRange) =>
  a.interval === b.interval && a.start === b.start && a.end === b.end

export function RangeMenu({ view, close }: { view: AnalyticsView; close: () => void }) {
  const choose = (range: DateRange) => {
    chooseRange(view, range)
    close()
  }
  return (
    <div className="grid w-72 sm:w-[34rem] sm:grid-cols-[12rem_1fr]">
      <ul className="grid grid-cols-2 content-start p-2 sm:grid-cols-1 sm:border-r sm:border-line">
        {listPresets(view.timezone).map(({ name, range }) => {
          const chosen = isSameRange(range, view.range)
          return (
            <li key={name}>
              <button
                type="button"
                aria-pressed={chosen}
                onClick={() => choose(range)}
                className={classNames(
                  'flex h-8 w-full items-center gap-2 rounded-lg px-2.5 text-left text-sm hover:bg-hover',
                  chosen && 'font-medium text-accent',
                )}
              >
                <span className="flex-1 truncate">{name}</span>
                {chosen && <Check size={14} aria-hidden />}
              </button>
            </li>
          )
        })}
      </ul>
      <div className="grid content-start gap-4 border-line p-4 max-sm:border-t">
        <Dates view={view} choose={choose} />
        <Zone view={view} />
      </div>
    </div>
  )
}

function Dates({ view, choose }: { view: AnalyticsView; choose: (range: DateRange) => void }) {
  const currentDay = today(view.timezone)
  const { start, end } = view.range
  const [error, setError] = useState<string>()
  return (
    <Form
      className="grid gap-3"
      onSubmit={(fields) => {
        const [from, to] = [String(fields.get('from')), String(fields.get('to'))]
        if (!from || !to) return setError('Choose a start date and an end date.')
        if (from > to) return setError('The start date must not be after the end date.')
        choose({ start: from, end: to })
      }}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="From"
          name="from"
          type="date"
          max={currentDay}
          defaultValue={start && DATE_PATTERN.test(start) ? start : addDays(currentDay, -29)}
          error={error}
        />
        <TextField
          label="To"
          name="to"
          type="date"
          max={currentDay}
          defaultValue={end && DATE_PATTERN.test(end) ? end : currentDay}
        />
      </div>
      <Button type="submit" variant="primary">
        Apply
      </Button>
    </Form>
  )
}

function Zone({ view }: { view: AnalyticsView }) {
  const zones = Intl.supportedValuesOf('timeZone')
  const firstZones = [...new Set([viewerZone, 'UTC', view.timezone])]
  const change = (zone: string) => view.set({ timezone: zone === viewerZone ? undefined : zone })
  return (
    <SelectField label="Time zone" value={view.timezone} onChange={(event) => change(event.target.value)}>
      {firstZones.map((zone) => (
        <option key={zone} value={zone}>
          {zone === viewerZone ? `${zone} (yours)` : zone}
        </option>
      ))}
      {zones
        .filter((zone) => !firstZones.includes(zone))
        .map((zone) => (
          <option key={zone} value={zone}>
            {zone.replaceAll('_', ' ')}
          </option>
        ))}
    </SelectField>
  )
}
