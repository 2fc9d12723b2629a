// The random salts for the hashes of visitors, one for each UTC day. ensure-salts.ts stores them as rows.

import { randomBytes } from 'node:crypto'
import { DAY_MS } from '../../lib/utc-day.ts'

export interface DailySalt {
  /** UTC day, `2026-01-31`. */
  day: string
  /** 256 bits in hex. */
  salt: string
}

/** Returns the salt of a time's UTC day. */
export type SaltLookup = (at: number) => string

export interface DailySalts {
  /** Replaces the known salts. */
  set(salts: DailySalt[]): void
  get: SaltLookup
}

/** The most days with a substitute in memory. */
const SUBSTITUTES_MAX = 1000

/**
 * Holds the salts of the days. If a hit waits until the salt of its day is destroyed, the day gets a random substitute, which
 * only exists in this process. It still distinguishes the day's visitors, and is destroyed with the process.
 */
export function createDailySalts(): DailySalts {
  const salts = new Map<number, string>()
  const substitutes = new Map<number, string>()
  return {
    set(replacement) {
      salts.clear()
      for (const { day, salt } of replacement) {
        const number = Date.parse(day) / DAY_MS
        salts.set(number, salt)
        substitutes.delete(number)
      }
    },
    get(at) {
      const day = Math.floor(at / DAY_MS)
      const known = salts.get(day) ?? substitutes.get(day)
      if (known) return known
      if (substitutes.size >= SUBSTITUTES_MAX) substitutes.clear()
      const substitute = randomBytes(32).toString('hex')
      substitutes.set(day, substitute)
      return substitute
    },
  }
}
