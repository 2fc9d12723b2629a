// Rows in PostgreSQL, shared by any number of Towpath processes. PostgreSQL groups commits itself.

import { Kysely, PostgresDialect, type PostgresDialectConfig, PostgresDriver } from 'kysely'
import pg from 'pg'
import { Failure, unavailable } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import type { Db, OnCommit, RowStore } from './engine.ts'
import { asFailure, isStoreAway } from './errors.ts'
import type { Tables } from './tables.ts'

const CONNECTIONS_MAX = 10
const CONNECT_MS = 2_000
// Longer than any question of ours; a server that stopped answering must not hold a request for ever.
const STATEMENT_MS = 10_000
// A restart of PostgreSQL takes about a second: wait that long inside the request before answering 503.
const PATIENCE_MS = 2_000
const RETRY_MS = 100

const INT8 = 20
const NUMERIC = 1700

/** Retries getting a connection while PostgreSQL restarts. */
class PatientDriver extends PostgresDriver {
  override async acquireConnection() {
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await super.acquireConnection()
      } catch (error) {
        if (!isStoreAway(error) || performance.now() > deadline) throw asFailure(error)
        await Bun.sleep(RETRY_MS)
      }
    }
  }
}

class Dialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig
  constructor(config: PostgresDialectConfig) {
    super(config)
    this.#config = config
  }
  override createDriver() {
    return new PatientDriver(this.#config)
  }
}

function openPool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS + 1_000,
    keepAlive: true,
    // Ids and counters are far below 2^53.
    types: {
      getTypeParser: (oid, format) =>
        oid === INT8 || oid === NUMERIC ? Number : pg.types.getTypeParser(oid as never, format as never),
    },
  })
  pool.on('error', (error) => log.warn('postgres_connection_lost', describeError(error)))
  pool.on('connect', (client) => {
    // An answered request must survive power loss, whatever the server's default is. Stronger settings are kept.
    client
      .query(
        `select set_config('statement_timeout', '${STATEMENT_MS}', false),
                case when current_setting('synchronous_commit') in ('off', 'local')
                     then set_config('synchronous_commit', 'on', false) end`,
      )
      .catch((error) => log.warn('postgres_session_settings_failed', describeError(error)))
  })
  return pool
}

export function openPostgres(url: string): RowStore & { migrator: Db } {
  const db: Db = new Kysely<Tables>({ dialect: new Dialect({ pool: openPool(url) }) })

  async function attempt<T>(verb: (db: Db, onCommit: OnCommit) => Promise<T>): Promise<T> {
    const committed: (() => void)[] = []
    const transaction = await db.startTransaction().execute()
    let value: T
    try {
      value = await verb(transaction, (callback) => committed.push(callback))
    } catch (error) {
      await transaction
        .rollback()
        .execute()
        .catch((lost) => log.warn('postgres_rollback_failed', describeError(lost)))
      throw error
    }
    try {
      await transaction.commit().execute()
    } catch (error) {
      // Nobody knows whether this one was committed: it must not be tried again, only reported as unknown.
      throw isStoreAway(error) ? unavailable(error) : error
    }
    for (const callback of committed) callback()
    return value
  }

  async function write<T>(verb: (db: Db, onCommit: OnCommit) => Promise<T>): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await attempt(verb)
      } catch (error) {
        if (error instanceof Failure || !isStoreAway(error)) throw error
        if (performance.now() > deadline) throw asFailure(error)
        await Bun.sleep(RETRY_MS)
      }
    }
  }

  return {
    engine: 'postgres',
    read: db,
    migrator: db,
    write,
    async probe() {
      await write((trx) => trx.deleteFrom('click_marks').where('node', '=', '').execute())
    },
    close: () => db.destroy(),
  }
}
