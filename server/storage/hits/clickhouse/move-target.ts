// The target of a move: loads all hits of another engine in slices, and sums up each day for comparison. No server uses the
// database before the move has ended.

import { DAY_MS } from '../../../lib/utc-day.ts'
import { HASHED_COLUMNS, type HitDayFigures, IS_CLICK, toDayFigures } from '../hit-day.ts'
import { ClickHouseError } from './clickhouse-error.ts'
import { type ClickHouseClient, createClickHouseClient } from './client.ts'
import { deleteWhere } from './delete.ts'
import { migrateTables } from './layout.ts'
import { insertHits } from './load.ts'

export interface HitMoveTarget {
  /** @returns true if it has neither hits nor marks */
  isEmpty(): Promise<boolean>
  /** The days that have hits. */
  listDays(): Promise<number[]>
  readFigures(day: number): Promise<HitDayFigures[]>
  countHits(): Promise<number>
  /** Deletes the hits of a day that an interrupted move has left. Waits for running inserts. */
  deleteDay(day: number): Promise<void>
  /** @param token ClickHouse stores slices with the same token once */
  loadSlice(slice: { node: string; path: string; token: string }): Promise<void>
  close(): Promise<void>
}

const TRIES = 4
const RETRY_MS = 1000
/** ClickHouse itself ends an insert after a minute. */
const INSERTS_END_WITHIN_MS = 120_000
const POLL_MS = 500
/** A day of a large installation takes seconds. */
const FIGURES_TIMEOUT_MS = 10 * 60_000

/** @param instance the name of this installation @throws for a database of another one, or of a newer release */
export async function openHitMoveTarget(urls: string[], instance?: string): Promise<HitMoveTarget> {
  const client = createClickHouseClient(urls)
  try {
    await migrateTables(client, instance)
  } catch (error) {
    await client.close()
    throw error
  }
  return {
    async isEmpty() {
      const rows = await client.select(
        'SELECT (SELECT count() FROM hits) + (SELECT count() FROM hit_marks WHERE batch > 0)',
      )
      return Number(rows[0]?.[0]) === 0
    },
    async listDays() {
      const rows = await client.select(
        `SELECT DISTINCT intDiv(recorded_at, ${DAY_MS}) AS day FROM hits ORDER BY day`,
      )
      return rows.map(([day]) => Number(day))
    },
    readFigures: (day) => readFigures(client, day),
    async countHits() {
      const [[count] = []] = await client.select('SELECT count() FROM hits')
      return Number(count)
    },
    async deleteDay(day) {
      await waitForInserts(client)
      await deleteWhere(
        client,
        (bind) => `recorded_at >= ${bind(day * DAY_MS)} AND recorded_at < ${bind((day + 1) * DAY_MS)}`,
      )
    },
    loadSlice: (slice) => loadSlice(client, slice),
    close: () => client.close(),
  }
}

const HASHED_TEXT = `concatWithSeparator('\\0', ${HASHED_COLUMNS.map((name) => `ifNull(toString(${name}), '')`).join(', ')})`
const HASH = `groupBitXor(reinterpretAsUInt64(reverse(substring(MD5(${HASHED_TEXT}), 1, 8))))`

async function readFigures(client: ClickHouseClient, day: number): Promise<HitDayFigures[]> {
  // The first condition is about the key of the table, the others about its months.
  const rows = await client.select(
    `SELECT workspace_id, count(), countIf(${IS_CLICK}), uniqExactIf(visitor, ${IS_CLICK}), ${HASH} FROM hits
     WHERE intDiv(recorded_at, ${DAY_MS}) = {p1:Int64} AND recorded_at >= {p2:Int64} AND recorded_at < {p3:Int64}
     GROUP BY workspace_id ORDER BY workspace_id`,
    { params: [day, day * DAY_MS, (day + 1) * DAY_MS], timeoutMs: FIGURES_TIMEOUT_MS },
  )
  return rows.map(toDayFigures)
}

/** A slice whose answer was lost is sent again with its token, and is stored once. */
async function loadSlice(
  client: ClickHouseClient,
  { node, path, token }: { node: string; path: string; token: string },
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await insertHits(client, { node, path }, 0, token)
    } catch (error) {
      if (tries === TRIES || !(error instanceof ClickHouseError && error.isAway)) throw error
      await Bun.sleep(RETRY_MS * tries)
    }
  }
}

/** Waits because an insert of a killed process can still be running. */
async function waitForInserts(client: ClickHouseClient): Promise<void> {
  const deadline = performance.now() + INSERTS_END_WITHIN_MS
  for (;;) {
    const [[count] = []] = await client.select(
      "SELECT count() FROM system.processes WHERE query_kind = 'Insert' AND current_database = currentDatabase()",
    )
    if (Number(count) === 0) return
    if (performance.now() > deadline)
      throw new Error('ClickHouse is still busy with an insert of an earlier run')
    await Bun.sleep(POLL_MS)
  }
}
