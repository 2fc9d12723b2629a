// Runs work in a transaction of a DuckDB connection.

import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../lib/log.ts'
import { isEngineDead, OpenTransaction } from './damage-watch.ts'
import type { ReadWriteLock } from './read-write-lock.ts'

/** @param aroundCommit runs the commit, alone if need be. Nothing is stored when it throws before that. */
export async function runTransaction<T>(
  connection: DuckDBConnection,
  work: () => Promise<T>,
  aroundCommit: ReadWriteLock['exclusive'] = (commit) => commit(),
): Promise<T> {
  await connection.run('BEGIN TRANSACTION')
  let isCommitting = false
  try {
    const result = await work()
    await aroundCommit(() => {
      isCommitting = true
      return connection.run('COMMIT')
    })
    return result
  } catch (error) {
    // A commit that fails has rolled back by itself, or was fatal. Then only the mark tells (see `isEngineDead`).
    if (!isCommitting) await rollBack(connection, error)
    throw error
  }
}

/**
 * Ends a transaction that must not store anything.
 * @param reason why. A dead engine cannot roll back, and has nothing to roll back: the caller throws the reason
 */
export async function rollBack(connection: DuckDBConnection, reason?: unknown): Promise<void> {
  try {
    await connection.run('ROLLBACK')
  } catch (error) {
    log.warn('hits.rollback_failed', describeError(error))
    if (!isEngineDead(reason) && !isEngineDead(error)) throw new OpenTransaction(reason ?? error)
  }
}
