// Watches for damage inside the data of a DuckDB file, which shows only when somebody reads it.

import { writeFileSync } from 'node:fs'
import { toDamageMarkerPath } from './hit-file.ts'

export type DamageWatch = <T>(work: () => Promise<T>) => Promise<T>

/**
 * The returned function runs work on the engine. After damage, or a transaction that could not be ended, it refuses all further
 * work, so that the engine's owner opens the engine again. After damage, a marker file makes the next opening quarantine the
 * file, unless all its hits are readable and only roll-ups are damaged.
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
 * @returns true if the engine is dead. After a fatal error (for example a full disk during a checkpoint) every later statement
 * fails, and the file must be closed and opened again. The current batch may be loaded: read the mark before loading it
 * again.
 */
export const isEngineDead = (error: unknown): boolean =>
  error instanceof OpenTransaction ||
  (error instanceof Error &&
    (/^FATAL Error|database has been invalidated/i.test(error.message) || isDamage(error)))

/** @returns true if data of the file cannot be read */
export const isDamage = (error: unknown) =>
  error instanceof Error && /corrupt database file/i.test(error.message)

/** A transaction could not be rolled back. Its connection cannot begin another one, and would read old rows. */
export class OpenTransaction extends Error {
  constructor(cause: unknown) {
    super('A transaction could not be rolled back', { cause })
  }
}
