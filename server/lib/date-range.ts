// From when to when, as callers write it: an instant is exact, a date is its whole day in UTC.

const DATE = /^\d{4}-\d\d-\d\d$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i

/** Milliseconds; `end` is exclusive, and the same as `start` for an instant. */
export interface DateBounds {
  start: number
  end: number
}

/** A time without an offset is UTC. @returns undefined for what is no ISO 8601 time, or never was */
export function parseDateRange(text: string): DateBounds | undefined {
  // A `+` that was not escaped in a query string arrives as a space.
  const written = text.replace(/ (?=\d\d:?\d\d$)/, '+')
  try {
    if (DATE.test(written)) {
      const date = Temporal.PlainDate.from(written)
      const firstOf = (day: Temporal.PlainDate) => day.toZonedDateTime('UTC').epochMilliseconds
      return { start: firstOf(date), end: firstOf(date.add({ days: 1 })) }
    }
    const parts = INSTANT.exec(written)
    if (!parts) return undefined
    const at = Temporal.Instant.from(parts[1] ? written : `${written}Z`).epochMilliseconds
    return { start: at, end: at }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
