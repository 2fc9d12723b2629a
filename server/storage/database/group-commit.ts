// One transaction, and so one fsync, for everything that asked to write in the same moment; a savepoint for each. Nobody
// is told anything before the disk has it.

import type { Database } from 'bun:sqlite'
import { unavailable } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import type { TransactionBody } from './database.ts'
import { isLocked, runCommitCallbacks, toFailure } from './errors.ts'
import { createSqliteKysely } from './sqlite-kysely.ts'

const JOBS_PER_COMMIT = 500
const WAITING_MAX = 20_000
const LOCKED_BY_ANOTHER_PROCESS_MS = 5_000
const LOCKED_RETRY_MS = 20

// A request is passed on by one turn and read in the next: with a single quiet turn, 64 senders came 21 to a commit.
const QUIET_TURNS = 2
// Redirects must not wait for all verbs of a commit.
const SLICE_MS = 2

/** Lets the event loop do what has come in. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

interface WriteJob {
  verb: TransactionBody<unknown>
  /** When it was asked for, on the monotonic clock. */
  since: number
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** What a verb came to. It is not true before the commit. */
type JobResult =
  | { job: WriteJob; value: unknown; callbacks: (() => void)[] }
  | { job: WriteJob; error: unknown }

/** @param database whose busy_timeout is 0: it is here that a lock is waited for, and the event loop goes on */
export function openGroupCommit(database: Database) {
  const waiting: WriteJob[] = []
  let running: Promise<void> | undefined
  let closed = false

  /** Waits for the write lock. @returns whether it has it; else nobody is waiting any more */
  async function begin(): Promise<boolean> {
    while (waiting.length > 0) {
      try {
        // Only a rollback that failed leaves one open.
        if (database.inTransaction) database.run('ROLLBACK')
        database.run('BEGIN IMMEDIATE')
        return true
      } catch (error) {
        giveUp(error, isLocked(error) ? performance.now() - LOCKED_BY_ANOTHER_PROCESS_MS : Infinity)
        if (waiting.length > 0) await Bun.sleep(LOCKED_RETRY_MS)
      }
    }
    return false
  }

  function giveUp(error: unknown, askedBefore: number) {
    const late = waiting.findIndex(({ since }) => since > askedBefore)
    for (const job of waiting.splice(0, late < 0 ? waiting.length : late)) job.reject(unavailable(error))
  }

  async function commit(): Promise<void> {
    const jobs = waiting.splice(0, JOBS_PER_COMMIT)
    const outcomes: JobResult[] = []
    let sliceEnd = performance.now() + SLICE_MS
    try {
      for (let i = 0; i < jobs.length; i++) {
        outcomes.push(await runVerb(database, jobs[i] as WriteJob))
        if (performance.now() < sliceEnd) continue
        await nextTurn()
        jobs.push(...waiting.splice(0, JOBS_PER_COMMIT - jobs.length))
        sliceEnd = performance.now() + SLICE_MS
      }
      database.run('COMMIT')
    } catch (error) {
      rollBack()
      for (const job of jobs) job.reject(unavailable(error))
      return
    }
    runCommitCallbacks(outcomes.flatMap((outcome) => ('callbacks' in outcome ? outcome.callbacks : [])))
    for (const outcome of outcomes) {
      if ('error' in outcome) outcome.job.reject(toFailure(outcome.error))
      else outcome.job.resolve(outcome.value)
    }
  }

  function rollBack() {
    try {
      if (database.inTransaction) database.run('ROLLBACK')
    } catch (error) {
      log.error('sqlite_rollback_failed', describeError(error))
    }
  }

  /** Waits for those who come in the same moment, to share the commit. */
  async function gather(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS && waiting.length < JOBS_PER_COMMIT; ) {
      const before = waiting.length
      await nextTurn()
      quiet = waiting.length > before ? 0 : quiet + 1
    }
  }

  async function run(): Promise<void> {
    // Nothing is awaited between the last look at the queue and the end: whoever comes then starts another run.
    while (waiting.length > 0) {
      await gather()
      if (await begin()) await commit()
    }
    running = undefined
  }

  return {
    write<T>(verb: TransactionBody<T>): Promise<T> {
      if (closed) return Promise.reject(unavailable(new Error('the row store is closed')))
      if (waiting.length >= WAITING_MAX) return Promise.reject(unavailable(new Error('write queue is full')))
      return new Promise<T>((resolve, reject) => {
        waiting.push({ verb, since: performance.now(), resolve: resolve as (value: unknown) => void, reject })
        running ??= run()
      })
    },
    /** Takes no more, and resolves when what was asked for is settled. */
    async close() {
      closed = true
      await running
    },
  }
}

/** @throws when the transaction itself is lost, and with it everybody in it */
async function runVerb(database: Database, job: WriteJob): Promise<JobResult> {
  const callbacks: (() => void)[] = []
  const handle = createVerbConnection(database)
  try {
    database.run('SAVEPOINT verb')
    const value = await job.verb(handle.connection, (callback) => callbacks.push(callback))
    handle.end()
    database.run('RELEASE verb')
    return { job, value, callbacks }
  } catch (error) {
    handle.end()
    // SQLite ends the whole transaction by itself when the disk is full. What is thrown on top of that is noise.
    if (!database.inTransaction) throw error
    database.run('ROLLBACK TO verb')
    database.run('RELEASE verb')
    return { job, error }
  }
}

/**
 * The verb's own way to the database. It refuses what would be stored with somebody else's verb: a query that nobody
 * waited for, or one that goes on after the transaction was lost, which SQLite would commit by itself.
 */
function createVerbConnection(database: Database) {
  let ended = false
  const connection = createSqliteKysely(database, () => {
    if (ended) throw new Error('This query came after its verb had ended: await every query.')
    if (!database.inTransaction) throw unavailable(new Error('the transaction was lost'))
  })
  return {
    connection,
    end() {
      ended = true
    },
  }
}
