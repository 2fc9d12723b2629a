// The day in UTC: its length, and its date for a moment.

export const DAY_MS = 24 * 60 * 60 * 1000

/** @returns the date as `2026-01-31` */
export const toUtcDay = (at: number) => new Date(at).toISOString().slice(0, 10)
