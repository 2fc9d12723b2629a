// Reads a page of a long list and counts the list, some thousand rows a turn of the event loop. SQLite runs on the loop: one
// statement that counts 300,000 rows holds it for 40 to 100 ms.

import { sql } from 'kysely'
import { takeTurn } from '../../lib/concurrency/take-turn.ts'
import type { Database } from './open-database.ts'

/** Rows from one place on and before another, in the order of the list. Absent: from the start, or to the end. */
export interface PlaceRange<Place> {
  from: Place | undefined
  before: Place | undefined
}

export interface PageScan<Row, Place> {
  /** How many rows the page has at most. */
  limit: number
  /** @returns the place `skipped` rows behind `from`, by an index alone; undefined where the list ends before */
  findPlace(from: Place | undefined, skipped: number): Promise<Place | undefined>
  /** The first rows of the range that belong to the page. */
  read(range: PlaceRange<Place>, limit: number): Promise<Row[]>
  /** How many rows of the range pass the filters. */
  count(range: PlaceRange<Place>): Promise<number | string>
}

const ROWS_AT_ONCE = 2_000

export async function scanPage<Row, Place>({
  limit,
  findPlace,
  read,
  count,
}: PageScan<Row, Place>): Promise<{ rows: Row[]; total: number }> {
  const rows: Row[] = []
  let total = 0
  for (let from: Place | undefined; ; ) {
    await takeTurn()
    const before = await findPlace(from, ROWS_AT_ONCE)
    if (rows.length < limit) rows.push(...(await read({ from, before }, limit - rows.length)))
    // PostgreSQL answers counts as texts.
    total += Number(await count({ from, before }))
    if (before === undefined) return { rows, total }
    from = before
  }
}

/** A list of a workspace whose newest rows come first, with an index on workspace and id. */
export const newestFirst = {
  /** PostgreSQL counts in a process of its own, at once. */
  async findPlace(
    { engine, read }: Pick<Database, 'engine' | 'read'>,
    table: 'audit_events' | 'erasure_receipts',
    { workspaceId, from, skipped }: { workspaceId: number; from: number | undefined; skipped: number },
  ): Promise<number | undefined> {
    if (engine === 'postgres') return undefined
    const rows = read
      .selectFrom(table as 'audit_events')
      .select('id')
      .where('workspace_id', '=', workspaceId)
    const place = await (from === undefined ? rows : rows.where('id', '<=', from))
      .orderBy('id', 'desc')
      .offset(skipped)
      .limit(1)
      .executeTakeFirst()
    return place?.id
  },
  isIn: ({ from, before }: PlaceRange<number>) =>
    sql<boolean>`id <= ${from ?? Number.MAX_SAFE_INTEGER} and id > ${before ?? 0}`,
}
