// The window for the date range and the time zone.

import { viewerZone } from '../../../ui/format.ts'
import { SelectField } from '../../../ui/forms/field.tsx'
import { RangeMenu } from '../../../ui/forms/range-menu.tsx'
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

export function AnalyticsRangeMenu({ view, close }: { view: AnalyticsView; close: () => void }) {
  const currentDay = today(view.timezone)
  const { start, end } = view.range
  return (
    <RangeMenu
      presets={listPresets(view.timezone)}
      range={view.range}
      days={{
        start: start && DATE_PATTERN.test(start) ? start : addDays(currentDay, -29),
        end: end && DATE_PATTERN.test(end) ? end : currentDay,
      }}
      max={currentDay}
      choose={(range) => {
        chooseRange(view, range)
        close()
      }}
    >
      <Zone view={view} />
    </RangeMenu>
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
