// Watches for damage inside the data of a DuckDB file, which shows only when somebody reads it.

import { writeFileSync } from 'node:fs'
import { toDamageMarkerPath } from './hit-file.ts'

export type DamageWatch = <T>(work: () => Promise<T>) => Promise<T>

/**
 * The returned function runs work on the engine. Once damage or a transaction without an end was seen, it refuses all further
 * work, so that the engine's owner opens the engine again. After damage, the marker file makes that opening quarantine the file, unless all hits in it can
 * be read and the damage is in roll-ups.
 */
export function createDamageWatch(path: string): DamageWatch {
  let fatal: unknown
  return async (work) => {
    if (fatal) throw fatal
    try {
      return await work()
    } catch (error) {
      if (isDamage(error) || error instanceof OpenTransaction) fatal = error
      if (isDamage(error)) writeFileSync(toDamageMarkerPath(path), String(error))
      throw error
    }
  }
}

/**
 * Whether the engine is dead. After a fatal error (a full disk during a checkpoint, say) every later statement fails,
 * and only closing and opening again helps. The batch that was being loaded may be in: read the mark before loading it
 * again.
 */
export const isEngineDead = (error: unknown): boolean =>
  error instanceof OpenTransaction ||
  (error instanceof Error &&
    (/^FATAL Error|database has been invalidated/i.test(error.message) || isDamage(error)))

/** Whether the data of the file cannot be read. */
export const isDamage = (error: unknown) =>
  error instanceof Error && /corrupt database file/i.test(error.message)

/** A transaction could not be rolled back. Its connection cannot begin another one, and would read old rows. */
export class OpenTransaction extends Error {
  constructor(cause: unknown) {
    super('A transaction could not be rolled back', { cause })
  }
}
