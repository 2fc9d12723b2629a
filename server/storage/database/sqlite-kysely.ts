// A Kysely dialect for Bun's SQLite. Statements run synchronously and in order, so a connection needs no queue.

import { Database } from 'bun:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Connection } from './database.ts'
import type { Tables } from './tables.ts'

// The number of prepared statements that stay. The default is 20, and one cycle of the deliverer uses as many.
Database.MAX_QUERY_CACHE_SIZE = 200

class Adapter extends SqliteAdapter {
  override get supportsTransactionalDdl() {
    return true
  }
}

const adapter = new Adapter()
const compiler = new SqliteQueryCompiler()

/** Runs each statement immediately. Kysely's own executor waits for a connection of a pool first. */
export class SqliteExecutor extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection

  constructor(
    readonly database: Database,
    /** Runs before each statement. If it throws, the statement fails with this error. */
    readonly allow: () => void,
  ) {
    const connection = connect(database, allow)
    super(compiler, adapter, { provideConnection: (consumer) => consumer(connection) })
    this.#connection = connection
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.executeQuery<R>(query)
  }
}

/** @param allow runs before each statement; if it throws, the statement fails with this error */
export function createSqliteKysely(database: Database, allow: () => void = () => {}): Connection {
  const executor = new SqliteExecutor(database, allow)
  return new Kysely<Tables>({ config: CONFIG, dialect, driver: findDriver(database), executor })
}

/** Only migrations need a driver, because their connection begins transactions itself. */
const DRIVERS = new WeakMap<Database, Driver>()

function findDriver(database: Database): Driver {
  const driver = DRIVERS.get(database) ?? createDriver(database)
  DRIVERS.set(database, driver)
  return driver
}

const dialect: Dialect = {
  createDriver() {
    throw new Error('Each connection has its own driver.')
  },
  createAdapter: () => adapter,
  createQueryCompiler: () => compiler,
  createIntrospector: (db) => new SqliteIntrospector(db),
}

const CONFIG = { dialect }

function createDriver(database: Database): Driver {
  const connection = connect(database, () => {})
  const run = (text: string) => connection.executeQuery(CompiledQuery.raw(text))
  return {
    async init() {},
    acquireConnection: async () => connection,
    async beginTransaction() {
      // IMMEDIATE makes two migrating processes wait for each other. A deferred transaction could fail halfway.
      await run('begin immediate')
    },
    async commitTransaction() {
      await run('commit')
    },
    async rollbackTransaction() {
      await run('rollback')
    },
    async releaseConnection() {},
    async destroy() {
      database.close()
    },
  }
}

function connect(database: Database, allow: () => void): DatabaseConnection {
  return {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      allow()
      const statement = database.query(sql)
      const values = parameters as never[]
      if (statement.columnNames.length > 0) return { rows: statement.all(...values) as R[] }
      const { changes, lastInsertRowid } = statement.run(...values)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    },
    // biome-ignore lint/correctness/useYield: the interface wants a generator
    async *streamQuery() {
      throw new Error('Ask in pages: an open cursor would keep the log from being checkpointed.')
    },
  }
}
