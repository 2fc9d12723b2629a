// Replaces names of browsers, systems and devices in hits of earlier releases that are in no list by `Other`. It works in the
// background, a day at a time, and continues after a restart.

import type { DuckDBConnection } from '@duckdb/node-api'
import { describeError, log } from '../../../lib/log.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { toClosedNamesSql } from '../closed-names-sql.ts'
import { unmarkDays } from './rollups/marks.ts'
import { quoteLiteral } from './values.ts'

/** The pause between two days, so that questions and loads get their turn. */
const PAUSE_MS = 200
const REST_MS = 10 * 60 * 1000

const { isOpen, assignments } = toClosedNamesSql(quoteLiteral)

interface OpenNames {
  /** Hits of the previous release were recorded before this time. */
  before: number
  /** The days with names to replace, newest first. */
  days: number[]
}

/** @returns undefined if all hits are of this release */
async function findOpenNames(connection: DuckDBConnection): Promise<OpenNames | undefined> {
  const open = await connection.runAndReadAll('SELECT max(before) FROM open_names')
  const before = open.getRows()[0]?.[0]
  if (before === null || before === undefined) return undefined
  const days = await connection.runAndReadAll(
    `SELECT DISTINCT recorded_at // ${DAY_MS} AS day FROM hits WHERE recorded_at < $1::BIGINT AND (${isOpen}) ORDER BY day DESC`,
    [before],
  )
  return { before: Number(before), days: days.getRows().map(([day]) => Number(day)) }
}

/** Run it in a transaction. It also removes the day's mark of roll-ups. */
async function closeNamesOfDay(connection: DuckDBConnection, day: number): Promise<void> {
  for (const table of ['hits_arrived', 'hits_sorted'])
    await connection.run(
      `UPDATE ${table} SET ${assignments} WHERE recorded_at >= ${day * DAY_MS} AND recorded_at < ${(day + 1) * DAY_MS} AND (${isOpen})`,
    )
  await unmarkDays(connection, [day])
}

export interface NameCloser {
  /** Resolves when it has stopped, or was interrupted. */
  close(): Promise<void>
}

export function startClosingNames(needs: {
  /** Runs work on the connection for changes, while nothing else changes hits. */
  run<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T>
  /** The backup has the old names too. */
  replaceBackup(): Promise<void>
}): NameCloser {
  let closed = false
  let wake = () => {}
  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      if (closed) return resolve()
      wake = resolve
      setTimeout(resolve, ms).unref()
    })
  const closeAll = async () => {
    while (!closed) {
      const open = await needs.run(findOpenNames)
      if (open === undefined) return
      for (const day of open.days) {
        if (closed) return
        await needs.run((connection) => closeNamesOfDay(connection, day))
        await rest(PAUSE_MS)
      }
      if (open.days.length > 0) {
        await needs.replaceBackup()
        log.info('hits.names_closed', { days: open.days.length })
      }
      if (Date.now() >= open.before)
        return void (await needs.run((connection) => connection.run('DELETE FROM open_names')))
      // Batches of the previous release can still be loaded.
      await rest(REST_MS)
    }
  }
  // The next start continues.
  const running = closeAll().catch((error) => {
    if (!closed) log.error('hits.names_not_closed', describeError(error))
  })
  return {
    close() {
      closed = true
      wake()
      return running
    },
  }
}
