// Sorts hits in the background: moves them from the table of their arrival to the history, which is sorted by
// workspace, day and visitor. It moves a run of hits in one transaction, so a hit is always in exactly one of the two
// tables. docs/adr/0009-sorted-history.md has the reasons for this order and for runs.

import type { DuckDBConnection } from '@duckdb/node-api'
import { createWaitList, type WaitList } from '../../../lib/concurrency/wait-list.ts'
import { describeError, log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { HIT_COLUMN_LIST, SORTED_COLUMN_LIST } from './layout.ts'

/** Two of DuckDB's row groups, so that row groups are full. Sorting a run takes about a second. */
export const RUN_HITS = 2 * 122_880
/** Sorting begins when no load has run for this time. */
const IDLE_MS = 100
/**
 * A load of this many hits is part of a backlog, and the next batch is already being written. Sorting in between would slow
 * this down: 124,000 hits a second from spool to engine instead of 160,000.
 */
const BACKLOG_HITS = 100_000
const BACKLOG_IDLE_MS = 2_000
/** The pause after an error, for example a full disk. Questions read unsorted hits from the table of their arrival. */
const RETRY_MS = 60_000

export type TransactionRunner = <T>(work: (connection: DuckDBConnection) => Promise<T>) => Promise<T>

export interface HitSorter {
  /** Runs a load, which returns its number of hits. No run begins during a load. */
  runLoad(load: () => Promise<number>): Promise<void>
  /** Waits for the current run, and runs the work while no run is being sorted. */
  runPaused<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when there are fewer unsorted hits than a run, or when they cannot be sorted now. */
  settled(): Promise<void>
  close(): Promise<void>
}

interface SorterState {
  readonly transact: TransactionRunner
  readonly runHits: number
  /** The number of running loads and works of `runPaused`. */
  busy: number
  closed: boolean
  /** No run begins before this moment of the monotonic clock. */
  retryAt: number
  /** When the next run is due. Work that pauses sorting does not delay it further. */
  dueAt: number
  timer: Timer | undefined
  /** The run that is being sorted. */
  running: Promise<void> | undefined
  /** Callers of `settled`. */
  readonly settling: WaitList
}

/**
 * @param options.transact runs work in a transaction of a separate connection, while loads run
 * @param options.runHits the number of hits of a run, which begins once that many wait: the oldest hits first, whenever they arrived
 */
export function openHitSorter(options: { transact: TransactionRunner; runHits: number }): HitSorter {
  const sorter: SorterState = {
    ...options,
    busy: 0,
    closed: false,
    retryAt: 0,
    dueAt: Number.POSITIVE_INFINITY,
    timer: undefined,
    running: undefined,
    settling: createWaitList(),
  }
  schedule(sorter, IDLE_MS)
  return {
    async runLoad(load) {
      const hits = await runUnsorted(sorter, load)
      schedule(sorter, hits >= BACKLOG_HITS ? BACKLOG_IDLE_MS : IDLE_MS)
    },
    runPaused: (work) =>
      runUnsorted(sorter, async () => {
        await sorter.running
        return work()
      }),
    async settled() {
      if (sorter.closed || performance.now() < sorter.retryAt) return schedule(sorter, 0)
      const settled = sorter.settling.wait()
      schedule(sorter, 0)
      await settled
    },
    async close() {
      sorter.closed = true
      clearTimeout(sorter.timer)
      await sorter.running
      sorter.settling.release()
    },
  }
}

function schedule(sorter: SorterState, afterMs: number) {
  sorter.dueAt = performance.now() + afterMs
  resume(sorter)
}

/** Starts the next run when it is due, unless other work must end first. */
function resume(sorter: SorterState) {
  clearTimeout(sorter.timer)
  if (sorter.closed || sorter.busy > 0 || sorter.running || sorter.dueAt === Number.POSITIVE_INFINITY) return
  const waitMs = Math.max(sorter.dueAt, sorter.retryAt) - performance.now()
  sorter.timer = setTimeout(() => startRun(sorter), Math.max(0, waitMs))
  sorter.timer.unref()
}

function startRun(sorter: SorterState) {
  sorter.dueAt = Number.POSITIVE_INFINITY
  sorter.running = sorter
    .transact((connection) => sortRun(connection, sorter.runHits))
    .then(
      (sorted) => {
        sorter.running = undefined
        if (sorted === 0) {
          sorter.settling.release()
          resume(sorter)
        } else schedule(sorter, IDLE_MS)
      },
      (error) => {
        sorter.running = undefined
        log.error('hits.sorting_failed', describeError(error))
        sorter.settling.release()
        sorter.retryAt = performance.now() + RETRY_MS
        schedule(sorter, RETRY_MS)
      },
    )
}

/** Runs work during which no run begins. */
async function runUnsorted<T>(sorter: SorterState, work: () => Promise<T>): Promise<T> {
  sorter.busy++
  clearTimeout(sorter.timer)
  try {
    return await work()
  } finally {
    sorter.busy--
    resume(sorter)
  }
}

/** @returns the number of sorted hits: those of a run, or 0 */
async function sortRun(connection: DuckDBConnection, runHits: number): Promise<number> {
  const end = await findRunEnd(connection, runHits)
  if (end === undefined) return 0
  const added = await connection.run(
    `INSERT INTO hits_sorted (${HIT_COLUMN_LIST}) SELECT ${SORTED_COLUMN_LIST} FROM hits_arrived WHERE recorded_at < $1
     ORDER BY workspace_id, recorded_at // ${DAY_MS}, visitor, recorded_at`,
    [end],
  )
  const deleted = await connection.run('DELETE FROM hits_arrived WHERE recorded_at < $1', [end])
  if (added.rowsChanged !== deleted.rowsChanged)
    throw new Error(`Sorting would have made ${added.rowsChanged} hits of ${deleted.rowsChanged}`)
  return deleted.rowsChanged
}

/**
 * The time before which the hits of a run were recorded; undefined if too few hits wait. At most `runHits` hits are before
 * it, or more if one millisecond has more, because the run would be empty without that millisecond.
 */
async function findRunEnd(connection: DuckDBConnection, runHits: number): Promise<bigint | undefined> {
  const count = await connection.runAndReadAll('SELECT count(*) FROM hits_arrived')
  if (Number(count.getRows()[0]?.[0]) <= runHits) return undefined
  const range = await connection.runAndReadAll(
    `SELECT min(recorded_at), max(recorded_at)
     FROM (SELECT recorded_at FROM hits_arrived ORDER BY recorded_at LIMIT $1)`,
    [BigInt(runHits + 1)],
  )
  const [first, next] = (range.getRows()[0] ?? []) as bigint[]
  if (first === undefined || next === undefined) return undefined
  return first === next ? next + 1n : next
}
