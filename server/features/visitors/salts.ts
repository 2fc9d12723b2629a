// The random salts under which visitors are hashed, one for each UTC day. The salts come from the rows: see
// ensure-salts.ts.

import { randomBytes } from 'node:crypto'
import { DAY_MS } from '../../lib/utc-day.ts'

export interface DailySalt {
  /** UTC day, `2026-01-31`. */
  day: string
  /** 256 bits in hex. */
  salt: string
}

/** Answers with the salt of the day in which a moment lies. */
export type SaltLookup = (at: number) => string

export interface DailySalts {
  /** Replaces the known salts. */
  set(salts: DailySalt[]): void
  get: SaltLookup
}

/** Bounds the memory: at most this many days have a substitute at a time. */
const SUBSTITUTES_MAX = 1000

/**
 * Keeps the salts of the days. A hit may wait until the salt of its day is destroyed. Such a day gets a random
 * substitute that lives in this process alone: it still tells the day's visitors apart, and nobody can hash an address
 * with it again.
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
