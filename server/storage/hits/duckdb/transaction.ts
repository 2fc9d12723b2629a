// Runs work in a transaction of a DuckDB connection.

import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../lib/log.ts'
import { isEngineDead, OpenTransaction } from './damage-watch.ts'
import type { ReadWriteLock } from './read-write-lock.ts'

/** @param aroundCommit runs the commit, alone if necessary. If it throws before the commit, nothing is stored. */
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
    // A failed commit has rolled back, or was fatal. Then only the mark shows whether it has stored the rows (see `isEngineDead`).
    if (!isCommitting) await rollBack(connection, error)
    throw error
  }
}

/**
 * Rolls a transaction back.
 * @param reason the error behind it. A dead engine cannot roll back, and does not need to: the caller throws the reason
 */
export async function rollBack(connection: DuckDBConnection, reason?: unknown): Promise<void> {
  try {
    await connection.run('ROLLBACK')
  } catch (error) {
    log.warn('hits.rollback_failed', describeError(error))
    if (!isEngineDead(reason) && !isEngineDead(error)) throw new OpenTransaction(reason ?? error)
  }
}
