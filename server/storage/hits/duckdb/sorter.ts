// Turns hits in the order of their arrival into history: sorted by workspace, day and visitor, run by run, each in one
// transaction, so that a hit is always in exactly one of the two tables. Beside the loads, on a connection of its own.
// Why this order, and why in runs: docs/adr/0009-sorted-history.md.

import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../lib/log.ts'
import { HIT_COLUMN_LIST, SORTED_COLUMN_LIST } from './layout.ts'

/** Two of DuckDB's row groups, so that none is left half full: sorted in about a second. */
export const RUN_HITS = 2 * 122_880
/** How long no load has run when sorting begins. */
const IDLE_MS = 100
/**
 * A load of so many is one of a backlog, and the next is being written: to sort in between would take the core from that
 * (124,000 hits a second from spool to engine instead of 160,000).
 */
const BACKLOG_HITS = 100_000
const BACKLOG_IDLE_MS = 2_000
/** After an error (a full disk, say). What was not sorted is answered from where it is. */
const RETRY_MS = 60_000
const DAY_MS = 24 * 60 * 60 * 1000

type TransactionRunner = <T>(work: (connection: DuckDBConnection) => Promise<T>) => Promise<T>

export interface HitSorter {
  /** Runs a load, which says how many hits there were; sorting begins when there is none. */
  runLoad(load: () => Promise<number>): Promise<void>
  /** Runs it while nothing is being sorted. */
  runPaused<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when too few hits wait, or they cannot be sorted now. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** @param options.runHits so many are sorted at a time, once they wait; the oldest first, however late they came. */
export function openHitSorter(options: { transact: TransactionRunner; runHits: number }): HitSorter {
  const { transact, runHits } = options
  let busy = 0
  let closed = false
  let retryAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<void> | undefined
  const waiting: (() => void)[] = []

  const settle = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }

  function plan(afterMs: number) {
    clearTimeout(timer)
    if (closed || busy > 0 || running) return
    timer = setTimeout(start, Math.max(afterMs, retryAt - performance.now()))
    timer.unref()
  }

  function start() {
    running = transact((connection) => sortRun(connection, runHits)).then(
      (moved) => {
        running = undefined
        if (moved === 0) settle()
        else plan(IDLE_MS)
      },
      (error) => {
        running = undefined
        log.error('hits.sorting_failed', describeError(error))
        settle()
        retryAt = performance.now() + RETRY_MS
        plan(RETRY_MS)
      },
    )
  }

  async function keepOut<T>(work: () => Promise<T>, until?: () => Promise<void> | undefined): Promise<T> {
    busy++
    clearTimeout(timer)
    try {
      await until?.()
      return await work()
    } finally {
      busy--
      plan(IDLE_MS)
    }
  }

  plan(IDLE_MS)
  return {
    async runLoad(load) {
      const hits = await keepOut(load)
      if (hits >= BACKLOG_HITS) plan(BACKLOG_IDLE_MS)
    },
    runPaused: (work) => keepOut(work, () => running),
    settled() {
      const settled = Promise.withResolvers<void>()
      if (closed || performance.now() < retryAt) settled.resolve()
      waiting.push(settled.resolve)
      plan(0)
      return settled.promise
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await running
      settle()
    },
  }
}

/** @returns how many were sorted: a run's worth, or none. */
async function sortRun(connection: DuckDBConnection, runHits: number): Promise<number> {
  const until = await findRunEnd(connection, runHits)
  if (until === undefined) return 0
  const added = await connection.run(
    `INSERT INTO hits_sorted (${HIT_COLUMN_LIST}) SELECT ${SORTED_COLUMN_LIST} FROM hits_arrived WHERE recorded_at < $1
     ORDER BY workspace_id, recorded_at // ${DAY_MS}, visitor, recorded_at`,
    [until],
  )
  const taken = await connection.run('DELETE FROM hits_arrived WHERE recorded_at < $1', [until])
  if (added.rowsChanged !== taken.rowsChanged)
    throw new Error(`Sorting would have made ${added.rowsChanged} hits of ${taken.rowsChanged}`)
  return taken.rowsChanged
}

/** Before it lie at most `runHits` hits, but for those of its own millisecond where there would be none otherwise. */
async function findRunEnd(connection: DuckDBConnection, runHits: number): Promise<bigint | undefined> {
  const counted = await connection.runAndReadAll('SELECT count(*) FROM hits_arrived')
  if (Number(counted.getRows()[0]?.[0]) <= runHits) return undefined
  const found = await connection.runAndReadAll(
    `SELECT min(recorded_at), max(recorded_at)
     FROM (SELECT recorded_at FROM hits_arrived ORDER BY recorded_at LIMIT $1)`,
    [BigInt(runHits + 1)],
  )
  const [first, next] = (found.getRows()[0] ?? []) as bigint[]
  if (first === undefined || next === undefined) return undefined
  return first === next ? next + 1n : next
}
