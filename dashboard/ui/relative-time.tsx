// A time relative to now, with the exact time as a tooltip.

import { formatAgo, formatDay, formatExactly } from './format.ts'

const WEEK_MS = 7 * 86_400_000

/** `3 hours ago` within a week, after that the day. */
export function RelativeTime({ at }: { at: string }) {
  const recent = Math.abs(Date.now() - Date.parse(at)) < WEEK_MS
  return (
    <time dateTime={at} title={formatExactly(at)}>
      {recent ? formatAgo(at) : formatDay(at)}
    </time>
  )
}
