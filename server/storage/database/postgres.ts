// The database in PostgreSQL, which several Towpath processes can share. PostgreSQL groups commits itself.

import {
  CompiledQuery,
  type ControlledTransaction,
  type DatabaseConnection,
  Kysely,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
} from 'kysely'
import pg from 'pg'
import { Failure, unavailable } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import { runCommitCallbacks } from './commit-callbacks.ts'
import { type Connection, createProbe, type DatabaseHandle, type TransactionBody } from './database.ts'
import { isDatabaseUnavailable, toFailure } from './errors.ts'
import type { Tables } from './tables.ts'

const CONNECTIONS_MAX = 10
// Also the time that a request waits for a connection when all of them are busy.
const CONNECT_MS = 5_000
// Longer than any query takes. A server that stopped answering must not hold a request for ever.
const STATEMENT_MS = 10_000
// A restart of PostgreSQL takes about a second. A request retries for this time before it is answered with 503.
const RETRY_FOR_MS = 2_000
const RETRY_MS = 100

// Parses bigint, numeric (the type of sums) and bigint[] as numbers: ids and counters are far below 2^53.
const NUMBER_PARSERS: Record<number, (text: string) => unknown> = {
  20: Number,
  1700: Number,
  1016: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)),
}

/** Retries to get a connection while PostgreSQL restarts. */
class RetryingDriver extends PostgresDriver {
  override async acquireConnection() {
    const deadline = performance.now() + RETRY_FOR_MS
    for (;;) {
      try {
        return await super.acquireConnection()
      } catch (error) {
        if (!isDatabaseUnavailable(error) || performance.now() > deadline) throw toFailure(error)
        await Bun.sleep(RETRY_MS)
      }
    }
  }

  override async commitTransaction(connection: DatabaseConnection) {
    // A failed statement ends the transaction even when the body caught the error, and COMMIT would then roll back
    // without an error. The SELECT in the same message fails in that case.
    await connection.executeQuery(CompiledQuery.raw('select 1; commit'))
  }
}

class RetryingDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig
  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }
  override createDriver() {
    return new RetryingDriver(this.#config)
  }
}

// A request is answered only after a synced commit, whatever the server's default is. Stronger settings are kept.
const SET_DURABLE = `select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') in ('off', 'local')`

const createPostgresKysely = (pool: pg.Pool): Connection =>
  new Kysely<Tables>({ dialect: new RetryingDialect({ pool }) })

function openPool(url: string, max: number, statementMs: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_MS,
    // The server's own timeout comes first. This one is for a server that no longer answers.
    query_timeout: statementMs === 0 ? undefined : statementMs + 1_000,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) =>
        NUMBER_PARSERS[oid] ?? pg.types.getTypeParser(oid as never, format as never),
    },
    async onConnect(client) {
      // Without a listener, a connection that is lost during a transaction would end the process.
      client.on('error', (error) => log.warn('postgres_connection_lost', describeError(error)))
      await client.query(SET_DURABLE)
      await client.query(`set statement_timeout = ${statementMs}`)
    },
  })
  // The listener of the connection has logged the error. The pool has removed the connection.
  pool.on('error', () => {})
  return pool
}

/**
 * Opens a connection for migrations. It has no timeout, because a migration may take long or wait for another process.
 */
export const openPostgresMigrator = (url: string): Connection => createPostgresKysely(openPool(url, 1, 0))

export function openPostgres(url: string): DatabaseHandle {
  const connection = createPostgresKysely(openPool(url, CONNECTIONS_MAX, STATEMENT_MS))
  const writes = new Set<Promise<unknown>>()
  let closed = false

  async function write<T>(body: TransactionBody<T>): Promise<T> {
    if (closed) throw unavailable(new Error('the row store is closed'))
    const work = writeWithRetries(connection, body)
    writes.add(work)
    try {
      return await work
    } finally {
      writes.delete(work)
    }
  }

  return {
    engine: 'postgres',
    read: connection,
    write,
    probe: createProbe(write),
    async close() {
      closed = true
      await Promise.allSettled(writes)
      await connection.destroy()
    },
  }
}

async function writeWithRetries<T>(connection: Connection, body: TransactionBody<T>): Promise<T> {
  const deadline = performance.now() + RETRY_FOR_MS
  for (;;) {
    try {
      return await runTransaction(connection, body)
    } catch (error) {
      if (error instanceof Failure || !isDatabaseUnavailable(error)) throw error
      if (performance.now() > deadline) throw toFailure(error)
      await Bun.sleep(RETRY_MS)
    }
  }
}

/** @throws Failure `unavailable`, which is not retried, when nobody knows whether the commit succeeded */
async function runTransaction<T>(connection: Connection, body: TransactionBody<T>): Promise<T> {
  const callbacks: (() => void)[] = []
  const transaction = await connection.startTransaction().execute()
  let value: T
  try {
    value = await body(transaction, (callback) => callbacks.push(callback))
  } catch (error) {
    await rollBack(transaction)
    throw error
  }
  try {
    await transaction.commit().execute()
  } catch (error) {
    // The rollback gives the connection back to the pool. A failed commit does not.
    await rollBack(transaction)
    throw isDatabaseUnavailable(error) ? unavailable(error) : error
  }
  runCommitCallbacks(callbacks)
  return value
}

async function rollBack(transaction: ControlledTransaction<Tables>) {
  await transaction
    .rollback()
    .execute()
    .catch((error) => log.warn('postgres_rollback_failed', describeError(error)))
}
