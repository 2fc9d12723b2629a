// Group commit for SQLite: concurrent writes share one transaction and one fsync. Each write has its own savepoint. A write
// is answered only after the commit is on disk. The next transaction also begins after that, so everything that it reads
// is on the disk.

import type { Database } from 'bun:sqlite'
import { gather } from '../../lib/concurrency/gather.ts'
import { nextTurn } from '../../lib/concurrency/next-turn.ts'
import { unavailable } from '../../lib/failure.ts'
import { describeError, log } from '../../lib/log.ts'
import {
  addWait,
  findRequest,
  type RequestContext,
  runForNobody,
  runForRequest,
} from '../../lib/telemetry/request-context.ts'
import { type AnnounceChange, listChanges, runCommitEffects } from './commit-effects.ts'
import { type CommitStats, createCommitStats, toWriteSpan } from './commit-stats.ts'
import type { CommitEffect, TransactionBody } from './database.ts'
import { isLocked, toFailure } from './errors.ts'
import { insertChangesIntoSqlite } from './record-change.ts'
import { createSqliteKysely } from './sqlite-kysely.ts'
import type { LogSync } from './sqlite-log/log-sync.ts'

const WRITES_PER_COMMIT = 500
const WAITING_MAX = 20_000
const LOCKED_BY_ANOTHER_PROCESS_MS = 5_000
const LOCKED_RETRY_MS = 20

// A commit yields to the event loop after this time, so that redirects do not wait for all of its writes.
const SLICE_MS = 2

/** Answers settled in one turn: the code after them runs about 2 ms at its end. */
const SETTLED_AT_ONCE = 32

interface WriteJob {
  body: TransactionBody<unknown>
  /** When `write` was called, on the monotonic clock. */
  since: number
  /** The request that waits for it. */
  request: RequestContext | undefined
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** The result of a body. It counts only after the commit. */
type JobResult =
  | { job: WriteJob; value: unknown; effects: CommitEffect[] }
  | { job: WriteJob; error: unknown }

interface GroupCommitOptions {
  /** Announces a change in this process after its commit. */
  announce?: AnnounceChange
  /** Absent where COMMIT itself syncs the log. */
  logSync?: Pick<LogSync, 'sync' | 'rewrite'>
  /** True if other processes follow the changes of this one. */
  storesChanges?: boolean
  stats?: CommitStats
}

interface WriteQueue extends Required<Omit<GroupCommitOptions, 'logSync'>> {
  database: Database
  stats: CommitStats
  logSync: GroupCommitOptions['logSync']
  /** A sync has failed, and it is unknown which part of the log is on the disk. */
  isLogDoubtful: boolean
  waiting: WriteJob[]
  /** Work that needs the file without a transaction of this process. */
  pauses: (() => Promise<void>)[]
  /** The current run of the queue; undefined while the queue is empty. */
  run: Promise<void> | undefined
}

/**
 * @param database with a busy_timeout of 0: the queue waits for a lock without blocking the event loop
 */
export function openGroupCommit(
  database: Database,
  {
    announce = () => {},
    logSync,
    storesChanges = true,
    stats = createCommitStats(),
  }: GroupCommitOptions = {},
) {
  const queue: WriteQueue = {
    database,
    announce,
    logSync,
    isLogDoubtful: false,
    storesChanges,
    stats,
    waiting: [],
    pauses: [],
    run: undefined,
  }
  let closed = false
  return {
    write<T>(body: TransactionBody<T>): Promise<T> {
      if (closed) return Promise.reject(unavailable(new Error('the row store is closed')))
      if (queue.waiting.length >= WAITING_MAX)
        return Promise.reject(unavailable(new Error('write queue is full')))
      return new Promise<T>((resolve, reject) => {
        const job = { body, since: performance.now(), request: findRequest() }
        queue.waiting.push({ ...job, resolve: resolve as (value: unknown) => void, reject })
        queue.run ??= runForNobody(() => runQueue(queue))
      })
    },
    /** Runs `work` between two transactions. Writes wait until it has ended; the event loop continues. */
    pause(work: () => Promise<void>): Promise<void> {
      return new Promise((resolve, reject) => {
        queue.pauses.push(() => work().then(resolve, reject))
        queue.run ??= runForNobody(() => runQueue(queue))
      })
    },
    /** Refuses new writes, and resolves when all earlier ones are settled. */
    async close() {
      closed = true
      await queue.run
    },
  }
}

async function runQueue(queue: WriteQueue): Promise<void> {
  // Nothing is awaited between the last check of the queue and the end, so a later write starts a new run.
  while (queue.waiting.length > 0 || queue.pauses.length > 0) {
    await queue.pauses.shift()?.()
    if (queue.waiting.length === 0) continue
    await gather(queue.waiting, WRITES_PER_COMMIT)
    if (await beginTransaction(queue)) await commitWaiting(queue)
  }
  queue.run = undefined
}

/** Waits for the write lock. @returns false when all waiting writes have timed out */
async function beginTransaction(queue: WriteQueue): Promise<boolean> {
  const { database, waiting } = queue
  while (waiting.length > 0) {
    try {
      // A transaction is open here only after a rollback has failed.
      if (database.inTransaction) database.run('ROLLBACK')
      database.run('BEGIN IMMEDIATE')
      // Without this, a power cut could lose all later commits, because the log lacks earlier ones.
      if (queue.isLogDoubtful) queue.logSync?.rewrite()
      return true
    } catch (error) {
      rejectWaiting(
        queue,
        error,
        isLocked(error) ? performance.now() - LOCKED_BY_ANOTHER_PROCESS_MS : Infinity,
      )
      if (waiting.length > 0) await Bun.sleep(LOCKED_RETRY_MS)
    }
  }
  return false
}

/** Rejects the writes that wait since before `since`. */
function rejectWaiting({ waiting }: WriteQueue, error: unknown, since: number) {
  const firstLater = waiting.findIndex((job) => job.since > since)
  const rejected = waiting.splice(0, firstLater < 0 ? waiting.length : firstLater)
  for (const job of rejected) job.reject(unavailable(error))
}

async function commitWaiting(queue: WriteQueue): Promise<void> {
  const { database, announce, storesChanges, waiting } = queue
  const from = performance.now()
  const jobs = waiting.splice(0, WRITES_PER_COMMIT)
  const results: JobResult[] = []
  let sliceEnd = performance.now() + SLICE_MS
  let changesBefore = 0
  try {
    changesBefore = countChanges(database)
    for (let i = 0; i < jobs.length; i++) {
      results.push(await runJob(database, jobs[i] as WriteJob))
      if (performance.now() < sliceEnd) continue
      await nextTurn()
      jobs.push(...waiting.splice(0, WRITES_PER_COMMIT - jobs.length))
      sliceEnd = performance.now() + SLICE_MS
    }
    if (storesChanges) insertChangesIntoSqlite(database, listChanges(listEffects(results)))
    database.run('COMMIT')
  } catch (error) {
    rollBack(database)
    for (const job of jobs) job.reject(unavailable(error))
    return
  }
  try {
    // Most transactions of an idle server only look for work: there is nothing to sync.
    if (queue.isLogDoubtful || countChanges(database) !== changesBefore) await queue.logSync?.sync()
    queue.isLogDoubtful = false
    recordCommit(queue, jobs, from)
  } catch (error) {
    queue.isLogDoubtful = true
    // Readers see the rows, so the caches must not have older ones.
    runCommitEffects(listEffects(results), announce)
    for (const job of jobs) job.reject(unavailable(error))
    return
  }
  runCommitEffects(listEffects(results), announce)
  await settle(results)
}

/** The rows that the connection has changed since it was opened. */
function countChanges(database: Database): number {
  const [{ changes }] = database.query('select total_changes() as changes').all() as [{ changes: number }]
  return changes
}

/** Settles the answers of a commit over several turns. */
async function settle(results: JobResult[]): Promise<void> {
  for (let n = 0; n < results.length; n++) {
    const result = results[n] as JobResult
    if ('error' in result) result.job.reject(toFailure(result.error))
    else result.job.resolve(result.value)
    if ((n + 1) % SETTLED_AT_ONCE === 0) await nextTurn()
  }
}

function recordCommit({ stats }: WriteQueue, jobs: WriteJob[], from: number): void {
  const until = performance.now()
  stats.addCommit(jobs.length, until - from)
  for (const { request, since } of jobs) {
    addWait(request, 'commitQueue', { from: since, until: Math.max(since, from) })
    addWait(request, 'commit', { from: Math.max(since, from), until }, toWriteSpan('sqlite', since, from))
  }
}

const listEffects = (results: JobResult[]) =>
  results.flatMap((result) => ('effects' in result ? result.effects : []))

function rollBack(database: Database) {
  try {
    if (database.inTransaction) database.run('ROLLBACK')
  } catch (error) {
    log.error('sqlite_rollback_failed', describeError(error))
  }
}

/** @throws when the whole transaction is lost, and all of its writes with it */
async function runJob(database: Database, job: WriteJob): Promise<JobResult> {
  const effects: CommitEffect[] = []
  const handle = createJobConnection(database)
  try {
    database.query('SAVEPOINT verb').run()
    const run = () => job.body(handle.connection, (effect) => effects.push(effect))
    const value = await (job.request ? runForRequest(job.request, run) : run())
    handle.end()
    database.query('RELEASE verb').run()
    return { job, value, effects }
  } catch (error) {
    handle.end()
    // SQLite ends the whole transaction by itself when the disk is full. Further statements would only fail again.
    if (!database.inTransaction) throw error
    database.run('ROLLBACK TO verb')
    database.run('RELEASE verb')
    return { job, error }
  }
}

/**
 * A connection for one body. It refuses queries that would be stored with another body: a query that was not awaited,
 * and a query after the transaction was lost, which SQLite would commit by itself.
 */
function createJobConnection(database: Database) {
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
