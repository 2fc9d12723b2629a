// Rows in one SQLite file: many readers of committed state, one writer that commits everything of one turn of the
// event loop with a single fsync (research figures: 5,000 single commits a second against 117,000 in groups of 50).

import { Database } from 'bun:sqlite'
import {
  CompiledQuery,
  Kysely,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely'
import { unavailable } from '../../lib/failure.ts'
import type { Db, OnCommit, RowStore } from './engine.ts'
import { asFailure } from './errors.ts'
import type { Tables } from './tables.ts'

// Below 3.51.3 a checkpoint racing a write can lose committed data (the WAL-reset bug).
const VERSION_FLOOR = [3, 51, 3]

const JOBS_PER_COMMIT = 500
const WAITING_MAX = 20_000
const LOCKED_BY_ANOTHER_PROCESS_MS = 5_000
const LOCKED_RETRY_MS = 20

// busy_timeout is short because it blocks the whole event loop; the writer waits for a lock without blocking.
const PRAGMAS = [
  'journal_mode=WAL',
  'synchronous=FULL',
  `busy_timeout=${LOCKED_RETRY_MS}`,
  'foreign_keys=ON',
  'trusted_schema=OFF',
  'cell_size_check=ON',
  'wal_autocheckpoint=1000',
  'journal_size_limit=67108864',
  'temp_store=MEMORY',
]

/** Kysely's SQLite dialect, with what SQLite can do and its defaults leave out. */
class Dialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig
  constructor(config: SqliteDialectConfig) {
    super(config)
    this.#config = config
  }
  override createDriver() {
    const driver = new SqliteDriver(this.#config)
    // Immediate, so that two processes that migrate at once wait for each other instead of failing half-way.
    driver.beginTransaction = async (connection) => {
      await connection.executeQuery(CompiledQuery.raw('begin immediate'))
    }
    return driver
  }
  override createAdapter() {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl() {
        return true
      }
    })()
  }
}

function kyselyOver(database: Database): Db {
  return new Kysely<Tables>({
    dialect: new Dialect({
      database: {
        close: () => database.close(),
        prepare: (text) => {
          const statement = database.query(text)
          return {
            reader: statement.columnNames.length > 0,
            all: (parameters) => statement.all(...(parameters as never[])),
            run: (parameters) => statement.run(...(parameters as never[])),
            iterate: (parameters) =>
              statement.iterate(...(parameters as never[])) as IterableIterator<unknown>,
          }
        },
      },
    }),
  })
}

function openWriter(path: string): Database {
  const database = new Database(path, { create: true, strict: true })
  const { version } = database.query('select sqlite_version() as version').get() as { version: string }
  const parts = version.split('.').map(Number)
  const below = VERSION_FLOOR.findIndex((floor, i) => (parts[i] ?? 0) !== floor)
  if (below >= 0 && (parts[below] ?? 0) < (VERSION_FLOOR[below] ?? 0)) {
    throw new Error(
      `SQLite ${version} can lose data (WAL-reset bug); ${VERSION_FLOOR.join('.')} or newer is needed.`,
    )
  }
  for (const pragma of PRAGMAS) database.run(`PRAGMA ${pragma}`)
  return database
}

/** @param path of the database file, made when absent. Not on a network file system: WAL needs shared memory. */
export function openSqlite(path: string): RowStore & { migrator: Db } {
  const writer = openWriter(path)
  const writerDb = kyselyOver(writer)
  const reader = new Database(path, { readonly: true, strict: true })
  reader.run('PRAGMA busy_timeout=1000')
  reader.run('PRAGMA trusted_schema=OFF')
  const queue = groupCommit(writer, writerDb)
  return {
    engine: 'sqlite',
    read: kyselyOver(reader),
    migrator: writerDb,
    write: queue.write,
    async probe() {
      // A row that does not exist: takes the write lock and finds a full or read-only disk, but changes nothing.
      await queue.write((db) => db.deleteFrom('click_marks').where('node', '=', '').execute())
    },
    async close() {
      await queue.idle()
      reader.close()
      try {
        writer.run('PRAGMA wal_checkpoint(TRUNCATE)')
      } finally {
        writer.close()
      }
    },
  }
}

interface Job {
  verb: (db: Db, onCommit: OnCommit) => Promise<unknown>
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** One transaction for everything that asked to write in the same turn, a savepoint for each. */
function groupCommit(writer: Database, db: Db) {
  let waiting: Job[] = []
  let running: Promise<void> | undefined

  async function begin(): Promise<void> {
    const deadline = performance.now() + LOCKED_BY_ANOTHER_PROCESS_MS
    for (;;) {
      try {
        writer.run('BEGIN IMMEDIATE')
        return
      } catch (error) {
        const locked =
          error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
        if (!locked || performance.now() > deadline) throw error
        await Bun.sleep(LOCKED_RETRY_MS)
      }
    }
  }

  async function runJob(job: Job, committed: (() => void)[]): Promise<{ value: unknown } | undefined> {
    const own: (() => void)[] = []
    try {
      writer.run('SAVEPOINT verb')
      const value = await job.verb(db, (callback) => own.push(callback))
      writer.run('RELEASE verb')
      committed.push(...own)
      return { value }
    } catch (error) {
      // SQLite ends the whole transaction by itself when the disk is full: then everybody in it has failed.
      if (!writer.inTransaction) throw error
      writer.run('ROLLBACK TO verb')
      writer.run('RELEASE verb')
      job.reject(asFailure(error))
      return undefined
    }
  }

  async function commit(jobs: Job[]): Promise<void> {
    const done: { job: Job; value: unknown }[] = []
    const committed: (() => void)[] = []
    const settled = new Set<Job>()
    try {
      await begin()
      for (const job of jobs) {
        const result = await runJob(job, committed)
        if (result) done.push({ job, value: result.value })
        else settled.add(job)
      }
      writer.run('COMMIT')
    } catch (error) {
      if (writer.inTransaction) writer.run('ROLLBACK')
      for (const job of jobs) if (!settled.has(job)) job.reject(asFailure(error))
      return
    }
    for (const callback of committed) callback()
    for (const { job, value } of done) job.resolve(value)
  }

  async function run(): Promise<void> {
    // After the I/O of this turn, so that requests that arrived together share the commit.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const jobs = waiting.splice(0, JOBS_PER_COMMIT)
      await commit(jobs)
    }
    running = undefined
  }

  return {
    write<T>(verb: (db: Db, onCommit: OnCommit) => Promise<T>): Promise<T> {
      if (waiting.length >= WAITING_MAX) return Promise.reject(unavailable(new Error('write queue is full')))
      return new Promise<T>((resolve, reject) => {
        waiting.push({ verb, resolve: resolve as (value: unknown) => void, reject })
        running ??= run()
      })
    },
    async idle() {
      while (running) await running
      waiting = []
    },
  }
}
