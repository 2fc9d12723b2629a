// Lists of a workspace's people, invitations and keys, a page at a time. All go by id, which never changes.

import { decodeCursor, encodeCursor } from './cursor.ts'
import { invalid } from './failure.ts'

const PAGE = 50

export interface Page<T> {
  data: T[]
  nextCursor: string | null
  total: number
}

/** @returns the id after which the list goes on, if not at its beginning. @throws Failure `invalid` */
export function readPageQuery({ limit = PAGE, cursor }: { limit?: number; cursor?: string }, order: string) {
  if (cursor === undefined) return { limit, after: undefined }
  const found = decodeCursor(cursor, order)
  if (typeof found?.value !== 'number')
    throw invalid({ cursor: 'is not a cursor of this list; start again without it' })
  return { limit, after: found.id }
}

/** @param found one more than the page holds, where there are more */
export function toPage<R extends { id: number }, T>(
  found: R[],
  { limit, order, total }: { limit: number; order: string; total: { n: number | string } },
  resource: (row: R) => T,
): Page<T> {
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return {
    data: rows.map(resource),
    nextCursor: last ? encodeCursor({ order, value: last.id, id: last.id }) : null,
    total: Number(total.n),
  }
}
