// How the dates of the file are meant: their order, where it is not clear, and their time zone.

import { useId } from 'react'
import type { DateOrder } from '../../../api/transfer/imports.ts'
import { Card } from '../../../ui/card.tsx'
import { viewerZone } from '../../../ui/format.ts'
import { Field, Select } from '../../../ui/forms/field.tsx'
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
  const id = useId()
  const shown = pickDateSamples(samples)
  const orders = (Object.keys(ORDER_NAMES) as DateOrder[]).flatMap((each) => {
    const meaning = describeDateOrder(shown, each)
    return meaning ? [{ order: each, meaning }] : []
  })
  return (
    <Card title="Dates">
      <fieldset className="grid gap-2" aria-describedby={error && id}>
        <legend className="mb-2 text-soft">
          The dates of this file can be read in more than one way. Which one is right?
        </legend>
        {orders.map((each) => (
          <label
            key={each.order}
            className="flex min-w-0 items-start gap-3 rounded-lg border border-line px-3 py-2 hover:bg-hover has-checked:border-accent"
          >
            <input
              type="radio"
              name={`${id}-order`}
              className="mt-1 accent-accent"
              aria-invalid={error !== undefined}
              checked={each.order === order}
              onChange={() => change(each.order)}
            />
            <span className="min-w-0">
              <span className="block font-medium">{ORDER_NAMES[each.order]}</span>
              <span className="block text-sm break-words text-soft">{each.meaning}</span>
            </span>
          </label>
        ))}
        {error && (
          <p id={id} role="alert" className="text-sm text-danger">
            {error}
          </p>
        )}
      </fieldset>
    </Card>
  )
}

const ZONES = [...new Set(['UTC', viewerZone, ...Intl.supportedValuesOf('timeZone')])]

interface ZoneProps {
  zone: string
  error: string | undefined
  change: (zone: string) => void
}

export const TimeZoneField = ({ zone, error, change }: ZoneProps) => (
  <Field
    label="Time zone"
    className="grid-cols-1"
    error={error}
    hint="Of dates in the file that name no time zone."
  >
    {(control) => (
      <Select {...control} value={zone} onChange={({ target }) => change(target.value)}>
        {ZONES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
    )}
  </Field>
)
