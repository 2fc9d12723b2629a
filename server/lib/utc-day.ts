// UTC days: their length, and the date of a time.

export const DAY_MS = 24 * 60 * 60 * 1000

/** @returns the date as `2026-01-31` */
export function toUtcDay(at: number): string {
  // Most calls are about today.
  const day = Math.floor(at / DAY_MS)
  if (day === last.day) return last.date
  const date = new Date(at).toISOString().slice(0, 10)
  last = { day, date }
  return date
}

let last = { day: Number.NaN, date: '' }
