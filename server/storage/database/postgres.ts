// Rows in PostgreSQL, shared by any number of Towpath processes. PostgreSQL groups commits itself.

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
import { type Connection, createProbe, type DatabaseHandle, type TransactionBody } from './database.ts'
import { isDatabaseUnavailable, runCommitCallbacks, toFailure } from './errors.ts'
import type { Tables } from './tables.ts'

const CONNECTIONS_MAX = 10
// Also how long a request waits for one of the connections when all are busy.
const CONNECT_MS = 5_000
// Longer than any question of ours; a server that stopped answering must not hold a request for ever.
const STATEMENT_MS = 10_000
// A restart of PostgreSQL takes about a second: wait that long inside the request before answering 503.
const PATIENCE_MS = 2_000
const RETRY_MS = 100

// Ids and counters are far below 2^53: bigint, numeric (what sums are) and bigint[].
const NUMBERS: Record<number, (text: string) => unknown> = {
  20: Number,
  1700: Number,
  1016: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)),
}

/** Retries getting a connection while PostgreSQL restarts. */
class PatientDriver extends PostgresDriver {
  override async acquireConnection() {
    const deadline = performance.now() + PATIENCE_MS
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
    // A failed statement has ended the transaction even where the verb went on, and COMMIT alone would then roll back
    // without an error. The question before it, in the same message, fails.
    await connection.executeQuery(CompiledQuery.raw('select 1; commit'))
  }
}

class PatientDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig
  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }
  override createDriver() {
    return new PatientDriver(this.#config)
  }
}

// An answered request must survive power loss, whatever the server's default is. Stronger settings are kept.
const SET_DURABLE = `select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') in ('off', 'local')`

const createPostgresKysely = (pool: pg.Pool): Connection =>
  new Kysely<Tables>({ dialect: new PatientDialect({ pool }) })

function openPool(url: string, max: number, statementMs: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_MS,
    // The server gives up first; this is for one that does not answer any more.
    query_timeout: statementMs === 0 ? undefined : statementMs + 1_000,
    keepAlive: true,
    types: {
      getTypeParser: (oid, format) => NUMBERS[oid] ?? pg.types.getTypeParser(oid as never, format as never),
    },
    async onConnect(client) {
      // Without a listener a connection that is lost while a verb has it ends the whole process.
      client.on('error', (error) => log.warn('postgres_connection_lost', describeError(error)))
      await client.query(SET_DURABLE)
      await client.query(`set statement_timeout = ${statementMs}`)
    },
  })
  // Said by the connection itself, above; the pool has let go of it.
  pool.on('error', () => {})
  return pool
}

/** For migrations alone: they may take as long as they need, and wait for another process's. */
export const openPostgresMigrator = (url: string): Connection => createPostgresKysely(openPool(url, 1, 0))

export function openPostgres(url: string): DatabaseHandle {
  const connection = createPostgresKysely(openPool(url, CONNECTIONS_MAX, STATEMENT_MS))
  const writing = new Set<Promise<unknown>>()
  let closed = false

  async function attempt<T>(verb: TransactionBody<T>): Promise<T> {
    const committed: (() => void)[] = []
    const transaction = await connection.startTransaction().execute()
    let value: T
    try {
      value = await verb(transaction, (callback) => committed.push(callback))
    } catch (error) {
      await rollBack(transaction)
      throw error
    }
    try {
      await transaction.commit().execute()
    } catch (error) {
      // This gives the connection back to the pool, which a failed commit does not.
      await rollBack(transaction)
      // Nobody knows whether this one was committed: it must not be tried again, only reported as unknown.
      throw isDatabaseUnavailable(error) ? unavailable(error) : error
    }
    runCommitCallbacks(committed)
    return value
  }

  async function persist<T>(verb: TransactionBody<T>): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await attempt(verb)
      } catch (error) {
        if (error instanceof Failure || !isDatabaseUnavailable(error)) throw error
        if (performance.now() > deadline) throw toFailure(error)
        await Bun.sleep(RETRY_MS)
      }
    }
  }

  async function write<T>(verb: TransactionBody<T>): Promise<T> {
    if (closed) throw unavailable(new Error('the row store is closed'))
    const work = persist(verb)
    writing.add(work)
    try {
      return await work
    } finally {
      writing.delete(work)
    }
  }

  return {
    engine: 'postgres',
    read: connection,
    write,
    probe: createProbe(write),
    async close() {
      closed = true
      await Promise.allSettled(writing)
      await connection.destroy()
    },
  }
}

async function rollBack(transaction: ControlledTransaction<Tables>) {
  await transaction
    .rollback()
    .execute()
    .catch((lost) => log.warn('postgres_rollback_failed', describeError(lost)))
}
