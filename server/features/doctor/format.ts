// Writes numbers and spans of time for a person.

/** @param noun forms its plural with an s @returns such as `1 click` or `3 clicks` */
export const formatCount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

const MINUTE_MS = 60_000

/** Writes a span of time in one unit. @returns such as `5 minutes`, `3 hours` or `2 days` */
export function formatAge(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / MINUTE_MS))
  if (minutes < 2) return formatCount(Math.max(0, Math.round(ms / 1000)), 'second')
  if (minutes < 120) return `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}
