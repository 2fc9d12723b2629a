// The interface of the database, the same on SQLite and PostgreSQL.

import type { CompiledQuery, Kysely } from 'kysely'
import type { CommitSnapshot } from './commit-stats.ts'
import type { DatabaseSizes } from './sqlite-log/checkpointer.ts'
import type { Tables } from './tables.ts'

export type DatabaseEngine = 'sqlite' | 'postgres'

export type Connection = Kysely<Tables>

/** A link, by its domain ('' is the default domain) and the key of its slug, or a workspace with all its links. */
export type Change = { domain: string; slugKey: string } | { workspaceId: number }

/** The side effects of a transaction's commit. */
export type CommitEffect = (() => void) | Change

/**
 * Runs a callback after the transaction is committed and synced to disk, and never after a rollback. A change becomes a
 * row of the transaction, for other processes, and is announced in this one: see record-change.ts.
 */
export type OnCommit = (effect: CommitEffect) => void

export type TransactionBody<T> = (connection: Connection, onCommit: OnCommit) => Promise<T>

export interface Database {
  engine: DatabaseEngine
  /**
   * For reads. A read sees everything that was committed before it. On a server with SQLite it also sees commits that are not
   * yet synced: await a `write` of your own before you acknowledge a row that another write has stored. On PostgreSQL
   * it is also for frequent single statements that write (limits, heartbeats, leases): they commit without the durability
   * of `write`.
   */
  read: Connection
  /**
   * Runs `body` in a transaction, and resolves when it is committed and synced to disk.
   * `body` must only query the database. On SQLite other writers wait for it. On PostgreSQL it runs again from its
   * beginning when the connection is lost before the commit.
   * @throws what `body` throws, after a rollback of this body alone; Failure `unavailable` when the database is down or
   * full. After `unavailable` the rows can still be stored, if the commit got no answer.
   */
  write<T>(body: TransactionBody<T>): Promise<T>
  /**
   * Runs statements in a transaction, and sends all of them at once: one wait for the network instead of one for each. One call
   * is served at a time. Absent on SQLite, and where the process may open only one connection.
   * @returns the rows of each statement
   * @throws the error of a statement, after a rollback; Failure `unavailable` as `write` does
   */
  writeStatements?: ((statements: CompiledQuery[]) => Promise<unknown[][]>) | undefined
}

/** An open database, for the code that opened it. */
export interface DatabaseHandle extends Database {
  /** Calls `listener` for each change that this process commits, before the write resolves. */
  watchChanges(listener: (change: Change) => void): void
  readCommitStats(): CommitSnapshot
  /** Proves that a write reaches the disk. @throws `unavailable` */
  probe(): Promise<void>
  /** The state of the SQLite file at the last checkpoint; undefined before it, and on PostgreSQL. */
  sizes?(): DatabaseSizes | undefined
  close(): Promise<void>
}

/** Strangers can call the health check at any rate, so concurrent calls share one write. */
export function createProbe(write: Database['write']): () => Promise<void> {
  let pending: Promise<void> | undefined
  // Inserts and deletes a row in one transaction: no row stays, but the pages are written and synced.
  const probe = () =>
    write(async (connection) => {
      await connection.insertInto('click_marks').values({ node: '', batch: 0 }).execute()
      await connection.deleteFrom('click_marks').where('node', '=', '').execute()
    })
  return () => {
    pending ??= probe().finally(() => {
      pending = undefined
    })
    return pending
  }
}
