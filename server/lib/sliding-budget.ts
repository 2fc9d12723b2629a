// A budget of bytes in any window of time, by key. The window is counted in slices, because one entry for each
// request would itself be a way to fill the memory.

import { createGenerations } from './generations.ts'
import { toShortKey, type WindowResult } from './sliding-window.ts'
import { copyText } from './text.ts'

/** Bytes count for up to one slice longer than the window, so no window ever holds more than the budget. */
export const SLICES = 12

export type BudgetResult = Pick<WindowResult, 'allowed' | 'waitMs'>

interface Spent {
  slice: number
  bytes: number
}

/** Refused bytes do not count. @param options.clock monotonic milliseconds */
export function createSlidingBudgets({
  keysMax = 20_000,
  windowMs,
  clock = () => performance.now(),
}: {
  keysMax?: number
  windowMs: number
  clock?: () => number
}) {
  const spentByKey = createGenerations<Spent[]>({ entriesMax: keysMax / 2 })
  const sliceMs = windowMs / SLICES

  return {
    spend(givenKey: string, bytes: number, budget: number): BudgetResult {
      const key = toShortKey(givenKey)
      const now = clock()
      const slice = Math.floor(now / sliceMs)
      const spent = spentByKey.get(key) ?? []
      while (spent[0] && spent[0].slice < slice - SLICES) spent.shift()
      const result = decideBudget(spent, { now, sliceMs, bytes, budget })
      if (!result.allowed) return result
      if (spent.length === 0) spentByKey.set(copyText(key), spent)
      const newest = spent.at(-1)
      if (newest?.slice === slice) newest.bytes += bytes
      else spent.push({ slice, bytes })
      return result
    },
  }
}

/** @param spent oldest first */
export function decideBudget(
  spent: Spent[],
  { now, sliceMs, bytes, budget }: { now: number; sliceMs: number; bytes: number; budget: number },
): BudgetResult {
  let used = spent.reduce((sum, { bytes: each }) => sum + each, 0)
  if (used + bytes <= budget) return { allowed: true, waitMs: 0 }
  // An amount above the whole budget never fits. The caller may as well wait for a whole window.
  let waitMs = SLICES * sliceMs
  for (const { slice, bytes: freed } of spent) {
    used -= freed
    waitMs = Math.max(0, (slice + SLICES + 1) * sliceMs - now)
    if (used + bytes <= budget) break
  }
  return { allowed: false, waitMs }
}
