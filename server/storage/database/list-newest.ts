// Reads one page of a list, newest rows first, and the number of all its rows.

import { type SelectQueryBuilder, sql } from 'kysely'
import {
  cutPage,
  orderByCreation,
  orderById,
  type PageOrder,
  type PageRequest,
  readPageQuery,
} from '../../lib/pagination.ts'

interface NewestRow {
  id: number
  created_at?: number
}

interface NewestOrder<Row> {
  /** The list's name in cursors. */
  name: string
  /** The table of the rows. The query may join others. */
  table: string
  /** Sorts by creation time. Without it, the list is sorted by id: a later row has a higher one. */
  byCreation?: boolean
  /** @returns how many of the rows fit on the page */
  fit?: (found: Row[], limit: number) => number
}

/** @param all the rows of the list. @throws Failure `invalid` for a wrong cursor */
export async function listNewest<DB, TB extends keyof DB, Row extends NewestRow>(
  all: SelectQueryBuilder<DB, TB, Row>,
  query: PageRequest,
  { name, table, byCreation, fit = (_, limit) => limit }: NewestOrder<Row>,
): Promise<{ rows: Row[]; nextCursor: string | null; total: number }> {
  const order = (byCreation ? orderByCreation(name) : orderById(name)) as PageOrder<NewestRow, number>
  const { limit, after } = readPageQuery(query, order)
  const [at, id] = [sql.ref(`${table}.created_at`), sql.ref<number>(`${table}.id`)]
  let page = all
  if (after && byCreation) page = page.where(sql<boolean>`(${at}, ${id}) < (${after.value}, ${after.id})`)
  else if (after) page = page.where(id, '<', after.id)
  if (byCreation) page = page.orderBy(at, 'desc')
  const found = (await page
    .orderBy(id, 'desc')
    .limit(limit + 1)
    .execute()) as Row[]
  const { total } = (await all
    .clearSelect()
    .select((e) => e.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()) as { total: number }
  return { ...cutPage(found, fit(found, limit), order), total: Number(total) }
}
