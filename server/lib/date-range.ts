// Parses one end of a date range: an instant is exact, a date is the whole day in UTC. Also validates names of time
// zones.

const DATE = /^\d{4}-\d\d-\d\d$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i

/** In milliseconds. `end` is exclusive; for an instant it is the same as `start`. */
export interface DateBounds {
  start: number
  end: number
}

/** A time without an offset is UTC. @returns undefined for a text that is no ISO 8601 time, or a date such as Feb 30 */
export function parseDateRange(text: string): DateBounds | undefined {
  // A `+` that was not escaped in a query string arrives as a space.
  const time = text.replace(/ (?=\d\d:?\d\d$)/, '+')
  try {
    if (DATE.test(time)) {
      const date = Temporal.PlainDate.from(time)
      const startOf = (day: Temporal.PlainDate) => day.toZonedDateTime('UTC').epochMilliseconds
      return { start: startOf(date), end: startOf(date.add({ days: 1 })) }
    }
    const parts = INSTANT.exec(time)
    if (!parts) return undefined
    const at = Temporal.Instant.from(parts[1] ? time : `${time}Z`).epochMilliseconds
    return { start: at, end: at }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Whether a text is an IANA name. */
export const isTimeZone = (name: string): boolean => {
  // Temporal also accepts offsets such as +01:00. They are wrong for half of the year in a zone with summer time.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
