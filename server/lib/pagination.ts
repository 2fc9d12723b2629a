// Pages of a list (docs/contract.md §1): reads `limit` and `cursor` of a request, and cuts the rows into a page with
// the cursor of the next one.

import { takeTurn } from './concurrency/take-turn.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { invalid } from './failure.ts'

const DEFAULT_LIMIT = 50

/** A page ends before the row that would make it larger than this, to bound its memory and time. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024

export interface PageRequest {
  limit?: number
  cursor?: string
}

export interface Page<T> {
  data: T[]
  nextCursor: string | null
  total: number
}

/** How a list is sorted: by a value of each row, then by `id`. */
export interface PageOrder<Row, Value extends string | number = string | number> {
  /** Part of the cursor: a list refuses the cursor of another order, such as `clicks desc`. */
  name: string
  type: Value extends string ? 'string' : 'number'
  valueOf(row: Row): Value
}

/** The sort value and the id of the last row of the page before. */
export interface PagePosition<Value extends string | number> {
  value: Value
  id: number
}

/** For a list that is sorted by `id` alone. */
export const orderById = (name: string): PageOrder<{ id: number }, number> => ({
  name,
  type: 'number',
  valueOf: ({ id }) => id,
})

/** For a list that is sorted by `created_at`, then by `id`. */
export const orderByCreation = (name: string): PageOrder<{ created_at: number }, number> => ({
  name,
  type: 'number',
  valueOf: ({ created_at }) => created_at,
})

/** @returns `after`: undefined for the first page. @throws Failure `invalid` for a cursor of another list */
export function readPageQuery<Row, Value extends string | number>(
  { limit = DEFAULT_LIMIT, cursor }: PageRequest,
  order: PageOrder<Row, Value>,
): { limit: number; after: PagePosition<Value> | undefined } {
  if (cursor === undefined) return { limit, after: undefined }
  const position = decodeCursor(cursor, order.name)
  if (!position || typeof position.value !== order.type)
    throw invalid({ cursor: 'is not a cursor of this list; start again without it' })
  return { limit, after: { value: position.value as Value, id: position.id } }
}

/** @param found the rows after `after`: up to `limit + 1` of them, to detect the last page */
export function cutPage<Row extends { id: number }>(
  found: Row[],
  limit: number,
  order: PageOrder<NoInfer<Row>>,
): { rows: Row[]; nextCursor: string | null } {
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  const nextCursor = last
    ? encodeCursor({ order: order.name, value: order.valueOf(last), id: last.id })
    : null
  return { rows, nextCursor }
}

/**
 * @param found rows with the bytes of their large columns
 * @returns the number of rows on one page: at most `limit` and PAGE_BYTES_MAX bytes, but always one
 */
export function fitPage(found: { bytes: number }[], limit: number): number {
  let total = 0
  const tooMany = found.findIndex(({ bytes }, index) => {
    total += Number(bytes)
    return index > 0 && total > PAGE_BYTES_MAX
  })
  return tooMany === -1 ? limit : Math.min(limit, tooMany)
}

/** Rows from one place on and before another, in the order of the list. Absent: from the start, or to the end. */
export interface PlaceRange<Place> {
  from: Place | undefined
  before: Place | undefined
}

export interface PageScan<Row, Place> {
  /** Maximum number of rows on the page. */
  limit: number
  /** @returns the place `skipped` rows behind `from`, by an index alone; undefined where the list ends before */
  findPlace(from: Place | undefined, skipped: number): Promise<Place | undefined>
  /** The first rows of the range that belong to the page. */
  read(range: PlaceRange<Place>, limit: number): Promise<Row[]>
  /** Number of rows in the range that match the filters. */
  count(range: PlaceRange<Place>): Promise<number | string>
}

const ROWS_AT_ONCE = 2_000

/**
 * Reads a page of a long list and counts the list, some thousand rows a turn. SQLite runs on the event loop: one
 * statement that counts 300,000 rows blocks it for 40 to 100 ms.
 */
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
    // PostgreSQL returns counts as texts.
    const found = Number(await count({ from, before }))
    if (found > 0 && rows.length < limit) rows.push(...(await read({ from, before }, limit - rows.length)))
    total += found
    if (before === undefined) return { rows, total }
    from = before
  }
}
