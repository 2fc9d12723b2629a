// Writes a span of time for a person, in one unit.

const MINUTE_MS = 60_000

/** @returns such as `5 minutes`, `3 hours` or `2 days` */
export function formatAge(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / MINUTE_MS))
  if (minutes < 2) return `${Math.max(0, Math.round(ms / 1000))} seconds`
  if (minutes < 120) return `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}
