// The database in PostgreSQL, which several Towpath processes can share. PostgreSQL groups commits itself.

import {
  CompiledQuery,
  type ControlledTransaction,
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  type PostgresDialectConfig,
  PostgresDriver,
  type QueryResult,
  sql,
} from 'kysely'
import pg from 'pg'
import { Failure, unavailable } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import { type AnnounceChange, createAnnouncer, listChanges, runCommitEffects } from './commit-effects.ts'
import { type CommitStats, createCommitStats, measureWrite } from './commit-stats.ts'
import {
  type CommitEffect,
  type Connection,
  createProbe,
  type DatabaseHandle,
  type TransactionBody,
} from './database.ts'
import { isDatabaseUnavailable, toFailure } from './errors.ts'
import { openPool } from './postgres-pool.ts'
import { toInsertChangesText } from './record-change.ts'
import type { Tables } from './tables.ts'

/** Default of `DATABASE_POOL`. */
const CONNECTIONS = 10
// Longer than any query takes. Ends requests if the server stops answering.
const STATEMENT_MS = 10_000
// In transactions PostgreSQL's own limit comes first, because it leaves the connection usable.
const ANSWER_MS = STATEMENT_MS + 1_000
// A restart of PostgreSQL takes about a second. A request retries for this time before it is answered with 503.
const RETRY_FOR_MS = 2_000
const RETRY_MS = 100

/**
 * The last statement of the open transaction of a connection. It is sent in one message with the COMMIT. So it costs no
 * round trip, and a stalled process cannot delay the commit after it.
 */
const BEFORE_COMMIT = new WeakMap<DatabaseConnection, string>()

/**
 * A failed statement ends the transaction even when the body caught the error, and COMMIT would then roll back without an
 * error. The statement before it in the same message fails in that case.
 */
const toCommit = (before: string) => CompiledQuery.raw(`${before}; commit`)
const COMMIT = toCommit('select 1')

/** Retries to get a connection while PostgreSQL restarts. */
class RetryingDriver extends PostgresDriver {
  readonly #begin: CompiledQuery
  constructor(config: PostgresDialectConfig, statementMs: number) {
    super(config)
    this.#begin = toBegin(statementMs)
  }

  override async acquireConnection() {
    const deadline = performance.now() + RETRY_FOR_MS
    for (;;) {
      try {
        return await super.acquireConnection()
      } catch (error) {
        // A wrong password and a missing database too: both can be fixed while the server runs.
        if (!isDatabaseUnavailable(error) || performance.now() > deadline) throw unavailable(error)
        await Bun.sleep(RETRY_MS)
      }
    }
  }

  override async beginTransaction(connection: DatabaseConnection) {
    await connection.executeQuery(this.#begin)
  }

  override async commitTransaction(connection: DatabaseConnection) {
    const before = BEFORE_COMMIT.get(connection)
    await connection.executeQuery(before === undefined ? COMMIT : toCommit(before))
  }
}

/**
 * One message. The settings end with the transaction, so they also work behind a pooler. A request is answered only after a
 * synced commit, whatever the server's default is; stronger settings are kept. PostgreSQL's JIT compiler is for long
 * queries: it would take 30 ms for a statement of 1 ms whose rows it overestimates.
 */
const toBegin = (statementMs: number) =>
  CompiledQuery.raw(`begin;
  select set_config('statement_timeout', '${statementMs}', true), set_config('jit', 'off', true),
    set_config('synchronous_commit', case when current_setting('synchronous_commit') in ('off', 'local') then 'on'
      else current_setting('synchronous_commit') end, true)`)

class RetryingDialect extends PostgresDialect {
  readonly #config: PostgresDialectConfig
  readonly #statementMs: number
  constructor(config: PostgresDialectConfig, statementMs: number) {
    super(config)
    this.#config = config
    this.#statementMs = statementMs
  }
  override createDriver() {
    return new RetryingDriver(this.#config, this.#statementMs)
  }
  override createAdapter() {
    return new TransactionLockAdapter()
  }
}

/** The number of Kysely's own lock, which a server of an older release takes. */
const MIGRATION_LOCK = 3853314791062309107n

/**
 * Kysely's lock for migrations belongs to a session, which a pooler loses. This one belongs to a transaction. Kysely then
 * begins its own transaction; PostgreSQL warns and continues the first one.
 */
class TransactionLockAdapter extends PostgresAdapter {
  override async acquireMigrationLock(connection: Kysely<unknown>) {
    await sql`begin`.execute(connection)
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(connection)
  }
  /** Ends the transaction if Kysely failed before it ended it. */
  override async releaseMigrationLock(connection: Kysely<unknown>) {
    await sql`rollback`.execute(connection)
  }
}

const createPostgresKysely = (pool: pg.Pool, statementMs: number): Connection =>
  new Kysely<Tables>({ dialect: new RetryingDialect({ pool }, statementMs) })

/**
 * Opens a connection for migrations. It has no timeout, because a migration may take long or wait for another process.
 */
export const openPostgresMigrator = (url: string): Connection => createPostgresKysely(openPool(url, 1, 0), 0)

/** @param connections the most that this process opens */
export function openPostgres(url: string, connections = CONNECTIONS): DatabaseHandle {
  // One of the connections is for `writeStatements`.
  const connection = createPostgresKysely(
    openPool(url, Math.max(1, connections - 1), ANSWER_MS),
    STATEMENT_MS,
  )
  const pipeline = createPostgresKysely(openPool(url, 1, ANSWER_MS, { pipeline: true }), STATEMENT_MS)
  const writes = new Set<Promise<unknown>>()
  const { announce, watchChanges } = createAnnouncer()
  const stats = createCommitStats()
  let closed = false

  async function track<T>(start: () => Promise<T>): Promise<T> {
    if (closed) throw unavailable(new Error('the row store is closed'))
    const work = measure(start(), stats)
    writes.add(work)
    try {
      return await work
    } finally {
      writes.delete(work)
    }
  }

  const write: DatabaseHandle['write'] = (body) => track(() => writeWithRetries(connection, announce, body))

  return {
    engine: 'postgres',
    read: connection,
    write,
    writeStatements: pipeline && ((statements) => track(() => runPipeline(pipeline, statements))),
    watchChanges,
    readCommitStats: stats.read,
    probe: createProbe(write),
    async close() {
      closed = true
      await Promise.allSettled(writes)
      await Promise.all([connection.destroy(), pipeline?.destroy()])
    },
  }
}

/** Counts a transaction of PostgreSQL as one write. Its time includes the wait for a connection. */
async function measure<T>(work: Promise<T>, stats: CommitStats): Promise<T> {
  const from = performance.now()
  const value = await measureWrite(work)
  stats.addCommit(1, performance.now() - from)
  return value
}

async function writeWithRetries<T>(
  connection: Connection,
  announce: AnnounceChange,
  body: TransactionBody<T>,
): Promise<T> {
  const deadline = performance.now() + RETRY_FOR_MS
  for (;;) {
    try {
      return await runTransaction(connection, announce, body)
    } catch (error) {
      if (error instanceof Failure || !isDatabaseUnavailable(error)) throw error
      if (performance.now() > deadline) throw toFailure(error)
      await Bun.sleep(RETRY_MS)
    }
  }
}

/** @throws Failure `unavailable`, which is not retried, if the result of the commit is unknown */
async function runTransaction<T>(
  connection: Connection,
  announce: AnnounceChange,
  body: TransactionBody<T>,
): Promise<T> {
  const effects: CommitEffect[] = []
  const transaction = await connection.startTransaction().execute()
  let value: T
  try {
    value = await body(transaction, (effect) => effects.push(effect))
  } catch (error) {
    await rollBack(transaction)
    throw error
  }
  try {
    await setLastStatement(transaction, toInsertChangesText(listChanges(effects)))
    await transaction.commit().execute()
  } catch (error) {
    // The rollback returns the connection to the pool. A failed commit does not.
    await rollBack(transaction)
    throw isDatabaseUnavailable(error) ? unavailable(error) : error
  }
  runCommitEffects(effects, announce)
  return value
}

/** @throws the error of a statement, or Failure `unavailable` if the result of the commit is unknown */
const runPipeline = (pipeline: Connection, statements: CompiledQuery[]): Promise<unknown[][]> =>
  pipeline.getExecutor().provideConnection(async (connection) => {
    const all = [toBegin(STATEMENT_MS), ...statements, COMMIT]
    const results = await Promise.allSettled(all.map((statement) => connection.executeQuery(statement)))
    const failed = results.findIndex(({ status }) => status === 'rejected')
    if (failed < 0) return results.slice(1, -1).map((result) => (result as Fulfilled).value.rows)
    await connection.executeQuery(CompiledQuery.raw('rollback')).catch(logRollback)
    const { reason } = results[failed] as PromiseRejectedResult
    // After a statement that PostgreSQL has refused, COMMIT is refused too.
    const isRefused = reason instanceof pg.DatabaseError && all[failed] !== COMMIT
    throw isRefused ? reason : unavailable(reason)
  })

type Fulfilled = PromiseFulfilledResult<QueryResult<unknown>>

/** A connection is used again, so the statement of its last transaction must be removed. */
const setLastStatement = (transaction: ControlledTransaction<Tables>, text: string | undefined) =>
  transaction.getExecutor().provideConnection(async (connection) => {
    if (text === undefined) BEFORE_COMMIT.delete(connection)
    else BEFORE_COMMIT.set(connection, text)
  })

async function rollBack(transaction: ControlledTransaction<Tables>) {
  await transaction.rollback().execute().catch(logRollback)
}

const logRollback = (error: unknown) => log.warn('postgres_rollback_failed', describeError(error))
