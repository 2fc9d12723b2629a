// Date settings of an import: the order of day and month, where it is not clear, and the time zone.

import type { DateOrder } from '../../../api/transfer/imports.ts'
import { Card } from '../../../ui/card.tsx'
import { SelectField } from '../../../ui/forms/field.tsx'
import { RadioList } from '../../../ui/forms/radio-list.tsx'
import { listTimeZones } from '../../../ui/forms/time-zones.ts'
import { describeDateOrder, pickDateSamples } from './date-order.ts'

const ORDER_NAMES: Record<DateOrder, string> = {
  dmy: 'Day, month, year',
  mdy: 'Month, day, year',
  ymd: 'Year, month, day',
}

interface OrderProps {
  samples: string[]
  order: DateOrder | ''
  error: string | undefined
  change: (order: DateOrder) => void
}

export function DateOrderChoice({ samples, order, error, change }: OrderProps) {
  const shown = pickDateSamples(samples)
  const options = (Object.keys(ORDER_NAMES) as DateOrder[]).flatMap((value) => {
    const about = describeDateOrder(shown, value)
    return about ? [{ value, name: ORDER_NAMES[value], about }] : []
  })
  return (
    <Card title="Dates">
      <RadioList
        legend="The dates of this file can be read in more than one way. Which one is right?"
        options={options}
        value={order}
        error={error}
        change={change}
      />
    </Card>
  )
}

interface ZoneProps {
  zone: string
  error: string | undefined
  change: (zone: string) => void
}

export const TimeZoneField = ({ zone, error, change }: ZoneProps) => (
  <SelectField
    label="Time zone"
    className="grid-cols-1"
    error={error}
    hint="For dates in the file without a time zone."
    value={zone}
    onChange={({ target }) => change(target.value)}
  >
    {listTimeZones().map((name) => (
      <option key={name}>{name}</option>
    ))}
  </SelectField>
)
