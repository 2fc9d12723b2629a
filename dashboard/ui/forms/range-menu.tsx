// The window of a date range: ranges with a name, and two days to choose freely.

import { Check } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from '../button.tsx'
import { classNames } from '../class-names.ts'
import { TextField } from './field.tsx'

export interface DayRange {
  interval?: string | undefined
  start?: string | undefined
  end?: string | undefined
}

interface RangeMenuProps<R extends DayRange> {
  presets: { name: string; range: R }[]
  range: DayRange
  /** The days in the fields when the window opens. */
  days: { start: string; end: string }
  /** The last day that can be chosen. */
  max: string
  choose: (range: R | { start: string; end: string }) => void
  /** Fields below the days. */
  children?: ReactNode
}

const isSameRange = (a: DayRange, b: DayRange) =>
  a.interval === b.interval && a.start === b.start && a.end === b.end

export const RangeMenu = <R extends DayRange>(props: RangeMenuProps<R>) => (
  <div className="grid w-72 sm:w-[34rem] sm:grid-cols-[12rem_1fr]">
    <ul className="grid grid-cols-2 content-start p-2 sm:grid-cols-1 sm:border-r sm:border-line">
      {props.presets.map(({ name, range }) => {
        const chosen = isSameRange(range, props.range)
        return (
          <li key={name}>
            <button
              type="button"
              aria-pressed={chosen}
              onClick={() => props.choose(range)}
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
      <Days {...props} />
      {props.children}
    </div>
  </div>
)

function Days<R extends DayRange>({ days, max, choose }: RangeMenuProps<R>) {
  const [error, setError] = useState<string>()
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        const data = new FormData(event.currentTarget)
        const [from, to] = [String(data.get('from')), String(data.get('to'))]
        if (!from || !to) return setError('Choose a start date and an end date.')
        if (from > to) return setError('The start date must not be after the end date.')
        choose({ start: from, end: to })
      }}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField label="From" name="from" type="date" max={max} defaultValue={days.start} error={error} />
        <TextField label="To" name="to" type="date" max={max} defaultValue={days.end} />
      </div>
      <Button type="submit" variant="primary">
        Apply
      </Button>
    </form>
  )
}
