// A database inside an open transaction, for functions that take a database and run in a larger transaction.

import { sql } from 'kysely'
import { describeError, log } from '../../lib/log.ts'
import type { CommitEffect, Connection, Database, OnCommit, TransactionBody } from './database.ts'

/**
 * Reads see the changes of the transaction. Each write is a savepoint of it. The effects of the writes run at the
 * commit of the transaction.
 */
export function toNestedDatabase(db: Database, connection: Connection, onCommit: OnCommit): Database {
  let previous: Promise<unknown> = Promise.resolve()
  return {
    engine: db.engine,
    read: connection,
    // Writes run in sequence: savepoints of one connection can nest, but not overlap.
    write(body) {
      const result = previous.then(() => runInSavepoint(connection, onCommit, body))
      previous = result.catch(() => undefined)
      return result
    },
  }
}

async function runInSavepoint<T>(
  connection: Connection,
  onCommit: OnCommit,
  body: TransactionBody<T>,
): Promise<T> {
  const effects: CommitEffect[] = []
  await sql`savepoint inner_verb`.execute(connection)
  try {
    const value = await body(connection, (effect) => effects.push(effect))
    await sql`release savepoint inner_verb`.execute(connection)
    for (const effect of effects) onCommit(effect)
    return value
  } catch (error) {
    await rollbackToSavepoint(connection)
    throw error
  }
}

async function rollbackToSavepoint(connection: Connection) {
  try {
    await sql`rollback to savepoint inner_verb`.execute(connection)
    await sql`release savepoint inner_verb`.execute(connection)
  } catch (error) {
    // The whole transaction is lost with its connection or disk. The caller gets the body's error, which has the reason.
    log.warn('savepoint_lost', describeError(error))
  }
}
