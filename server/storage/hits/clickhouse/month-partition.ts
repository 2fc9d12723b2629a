// The tables have a partition for each UTC month. Its name is a number, such as 202605.

import { toDay } from '../rollups/rollup.ts'

/** The partition of a moment in milliseconds. */
export function toPartition(at: number): number {
  const date = new Date(at)
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
}

/** The first day of a partition's month. */
export const toFirstDay = (partition: number): number =>
  toDay(Date.UTC(Math.floor(partition / 100), (partition % 100) - 1))
