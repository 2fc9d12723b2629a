// Finds closed days and months that have hits and no roll-up, and groups small days.

import { DAY_MS } from '../../../../lib/utc-day.ts'
import { RECENT_DAYS } from '../../rollups/rollup.ts'
import type { RollSpan } from './day-snapshot.ts'
import { toDayCondition } from './roll-rules.ts'
import type { ValidRolls } from './roll-state.ts'
import type { RollClient } from './store-sums.ts'

export interface ClosedDays {
  /** From the first day that has hits to the last one: those without a roll-up, the last `RECENT_DAYS` before older ones. */
  raw: number[]
  /** The first and the last day with hits of each month that has hits, the oldest first. */
  months: { first: number; last: number }[]
}

export async function readClosedDays(
  client: RollClient,
  last: number,
  { days }: ValidRolls,
): Promise<ClosedDays> {
  // ClickHouse knows these bounds without reading hits.
  const rows = await client.select(
    `SELECT intDiv(min(recorded_at), ${DAY_MS}) AS first, intDiv(max(recorded_at), ${DAY_MS}) FROM hits
     GROUP BY _partition_id ORDER BY first`,
  )
  const months = rows.map(([first, end]) => ({ first: Number(first), last: Number(end) }))
  const raw: number[] = []
  const end = Math.min(last, months.at(-1)?.last ?? Number.NEGATIVE_INFINITY)
  for (let day = months[0]?.first ?? 0; day <= end; day++) if (!days.has(day)) raw.push(day)
  const isRecent = (day: number) => day >= end - RECENT_DAYS
  return { raw: [...raw.filter(isRecent), ...raw.filter((day) => !isRecent(day))], months }
}

/** The bounds of one roll-up: its days, and their hits together. One day may have more hits. */
const DAYS_AT_ONCE = 31
const HITS_AT_ONCE = 200_000

/** @returns `start` and the days after it that are little work, as long as each of them `isReady` */
export async function toSpan(
  client: RollClient,
  { raw, months }: ClosedDays,
  start: number,
  isReady: (day: number) => boolean,
): Promise<RollSpan> {
  const limit = await findEnd(client, start, months)
  let end = start + 1
  for (const day of raw) if (day === end && day < limit && isReady(day)) end++
  return { start, end }
}

/** @returns the first day after `day` that is for another roll-up */
async function findEnd(client: RollClient, day: number, months: ClosedDays['months']): Promise<number> {
  const month = months.find(({ last }) => last >= day)
  if (!month) return Number.POSITIVE_INFINITY
  // Days without hits are no work.
  if (month.first > day) return month.first
  const end = Math.min(month.last + 1, day + DAYS_AT_ONCE)
  const rows = await client.select(
    `SELECT intDiv(recorded_at, ${DAY_MS}) AS day, count() FROM hits WHERE ${toDayCondition({ start: day, end })}
     GROUP BY day ORDER BY day`,
  )
  let hits = 0
  for (const [each, count] of rows) {
    hits += Number(count)
    if (hits > HITS_AT_ONCE) return Math.max(day + 1, Number(each))
  }
  return end
}
