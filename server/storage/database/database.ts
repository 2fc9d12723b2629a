// What every row store offers, whichever engine is behind it.

import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

export type DatabaseEngine = 'sqlite' | 'postgres'

export type Connection = Kysely<Tables>

/** Called once the surrounding transaction is committed and synced; never when it is rolled back. */
export type OnCommit = (callback: () => void) => void

export type TransactionBody<T> = (connection: Connection, onCommit: OnCommit) => Promise<T>

export interface Database {
  engine: DatabaseEngine
  /** For questions only. Sees everything committed before it was asked. */
  read: Connection
  /**
   * Runs a verb in a transaction and resolves when it is committed and synced to disk.
   * The verb must only talk to the database: on SQLite others wait behind it, and PostgreSQL may lose the connection
   * before the commit, when the verb runs again from its beginning.
   * @throws whatever the verb throws, rolled back alone; `unavailable` when the store is down or full, and then
   * the verb's rows may be there nevertheless where it was the commit that got no answer.
   */
  write<T>(verb: TransactionBody<T>): Promise<T>
}

/** A store that is open, and the two things only its owner does with it. */
export interface DatabaseHandle extends Database {
  /** Proves that a write reaches the disk. @throws `unavailable` */
  probe(): Promise<void>
  close(): Promise<void>
}

/** Asked by strangers as often as they like, so those who ask at once share one answer. */
export function createProbe(write: Database['write']): () => Promise<void> {
  let asked: Promise<void> | undefined
  // A row that comes and goes within the transaction: nothing is there after it, but its pages are written and synced.
  const ask = () =>
    write(async (connection) => {
      await connection.insertInto('click_marks').values({ node: '', batch: 0 }).execute()
      await connection.deleteFrom('click_marks').where('node', '=', '').execute()
    })
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined
    })
    return asked
  }
}
