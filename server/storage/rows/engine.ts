// What every row store offers, whichever engine is behind it.

import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

export type Engine = 'sqlite' | 'postgres'

export type Db = Kysely<Tables>

/** Called once the surrounding transaction is committed and synced; never when it is rolled back. */
export type OnCommit = (callback: () => void) => void

export interface Rows {
  engine: Engine
  /** For questions only. Sees everything committed before it was asked. */
  read: Db
  /**
   * Runs a verb in a transaction and resolves when it is committed and synced to disk.
   * The verb must only talk to the database: on SQLite others wait behind it.
   * @throws whatever the verb throws, rolled back alone; `unavailable` when the store is down or full.
   */
  write<T>(verb: (db: Db, onCommit: OnCommit) => Promise<T>): Promise<T>
}

/** A store that is open, and the two things only its owner does with it. */
export interface RowStore extends Rows {
  /** Proves that a write reaches the disk. @throws `unavailable` */
  probe(): Promise<void>
  close(): Promise<void>
}
