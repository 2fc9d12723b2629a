// Runs work in a transaction of a DuckDB connection.

import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../lib/log.ts'
import type { ReadWriteLock } from './read-write-lock.ts'

/** @param aroundCommit runs the commit, alone if need be */
export async function runTransaction<T>(
  connection: DuckDBConnection,
  work: () => Promise<T>,
  aroundCommit: ReadWriteLock['exclusive'] = (commit) => commit(),
): Promise<T> {
  await connection.run('BEGIN TRANSACTION')
  let result: T
  try {
    result = await work()
  } catch (error) {
    // A dead engine cannot roll back, and has nothing to roll back. The first error is the one to throw.
    await connection
      .run('ROLLBACK')
      .catch((second) => log.warn('hits.rollback_failed', describeError(second)))
    throw error
  }
  // A commit that fails has rolled back by itself, or was fatal. Then only the mark tells (see `isEngineDead`).
  await aroundCommit(() => connection.run('COMMIT'))
  return result
}
