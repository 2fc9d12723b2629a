// Reads one page of a long list, newest first, and the number of all its rows. It reads and counts some thousand rows a
// turn, by the index of the workspace's rows in the order of their times.

import { type SelectQueryBuilder, sql } from 'kysely'
import { cutPage, type PageRequest, type PlaceRange, readPageQuery, scanPage } from '../../lib/pagination.ts'
import type { Database } from './open-database.ts'

interface LongList extends PageRequest {
  /** The list's name in cursors. */
  name: string
  table: 'deliveries' | 'outcomes'
  /** The column with the times that order the list. */
  time: string
  workspaceId: number
  /** Limits the times of the list: from `start`, before `end`. */
  start?: number
  end?: number
}

interface Place {
  at: number
  id: number
}

/** @param all the rows that pass the other filters. @throws Failure `invalid` for a wrong cursor */
export async function listLong<DB, TB extends keyof DB, Row extends { id: number }>(
  { engine, read }: Database,
  all: SelectQueryBuilder<DB, TB, Row>,
  { name, table, time, workspaceId, start, end, ...query }: LongList,
): Promise<{ rows: Row[]; nextCursor: string | null; total: number }> {
  const order = {
    name,
    type: 'number',
    valueOf: (row: object) => (row as Record<string, number>)[time],
  } as const
  const { limit, after } = readPageQuery<Row, number>(query, order as never)
  const at = sql.ref<number>(`${table}.${time}`)
  const id = sql.ref<number>(`${table}.id`)
  const position = sql`(${at}, ${id})`
  // With both a cursor and a time as limit of one end, SQLite would read from that time in each step.
  const selectRange = ({ from, before }: PlaceRange<Place>) => {
    let rows = all
    if (from) rows = rows.where(sql<boolean>`${position} <= (${from.at}, ${from.id})`)
    else if (end !== undefined) rows = rows.where(at, '<', end)
    if (before) rows = rows.where(sql<boolean>`${position} > (${before.at}, ${before.id})`)
    else if (start !== undefined) rows = rows.where(at, '>=', start)
    return rows
  }
  const { rows: found, total } = await scanPage<Row, Place>({
    limit: limit + 1,
    async findPlace(from, skipped) {
      // PostgreSQL counts all rows in one query, because it does not block this process.
      if (engine === 'postgres') return undefined
      const upTo = from ? sql`${position} <= (${from.at}, ${from.id})` : sql`${at} < ${end ?? MOST}`
      const { rows } = await sql<Place>`select ${at} as at, ${id} as id from ${sql.table(table)}
        where workspace_id = ${workspaceId} and ${upTo} and ${at} >= ${start ?? 0}
        order by ${at} desc, ${id} desc limit 1 offset ${skipped}`.execute(read)
      return rows[0]
    },
    read(range, most) {
      let page = selectRange(range)
      if (after) page = page.where(sql<boolean>`${position} < (${after.value}, ${after.id})`)
      return page.orderBy(at, 'desc').orderBy(id, 'desc').limit(most).execute() as Promise<Row[]>
    },
    async count(range) {
      const counted = selectRange(range)
        .clearSelect()
        .select((e) => e.fn.countAll<number>().as('n'))
      return ((await counted.executeTakeFirstOrThrow()) as { n: number }).n
    },
  })
  return { ...cutPage(found, limit, order as never), total }
}

const MOST = Number.MAX_SAFE_INTEGER
