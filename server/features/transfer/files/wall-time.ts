// Converts local wall time to a timestamp.

export interface WallTime {
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  millisecond: number
}

const QUARTER_MS = 15 * 60_000
const QUARTERS_MAX = 20_000

/** Zone → quarter of an hour on the wall → milliseconds to subtract. Clocks change at full quarters only. */
const offsets = new Map<string, Map<number, number>>()

/**
 * @param zone what the text says: `Z`, `UTC`, `GMT`, `+01:00`, `GMT+0100`; else `timeZone` counts
 * @returns null for an offset that no place has
 */
export function toInstant(wall: WallTime, zone: string | undefined, timeZone: string): number | null {
  const { year, month, day, hour, minute, second, millisecond } = wall
  const asUtc = Date.UTC(year, month - 1, day, hour, minute, second, millisecond)
  if (zone !== undefined) {
    const offset = readOffset(zone)
    return offset === null ? null : asUtc - offset
  }
  return timeZone === 'UTC' ? asUtc : asUtc - findOffset(asUtc, timeZone)
}

function readOffset(zone: string): number | null {
  const parts = /([+-])(\d\d)(?::?(\d\d))?$/.exec(zone)
  if (!parts) return 0
  const [hours, minutes] = [Number(parts[2]), Number(parts[3] ?? 0)]
  if (hours > 14 || minutes > 59) return null
  return (parts[1] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** @throws RangeError for a zone that the runtime does not know */
function findOffset(asUtc: number, timeZone: string): number {
  let known = offsets.get(timeZone)
  if (!known) {
    known = new Map()
    offsets.set(timeZone, known)
  }
  const quarter = Math.floor(asUtc / QUARTER_MS)
  const found = known.get(quarter)
  if (found !== undefined) return found
  const start = quarter * QUARTER_MS
  const wall = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO('UTC').toPlainDateTime()
  // "compatible" (RFC 5545): the earlier one of two, and behind a gap as long as the gap is.
  const at = wall.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds
  if (known.size >= QUARTERS_MAX) known.clear()
  known.set(quarter, start - at)
  return start - at
}
