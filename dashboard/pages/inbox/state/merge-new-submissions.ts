// What came in since the list was read is put into it, without asking for all of it again.

import type { InfiniteData } from '@tanstack/react-query'
import type { ResultPage } from '../../../api/client.ts'
import { type InboxFilter, includesStatus, type Submission } from '../../../api/submissions.ts'

export type SubmissionPages = InfiniteData<ResultPage<Submission>, unknown>

const isNewer = (a: Submission, b: Submission) =>
  a.createdAt === b.createdAt ? a.id > b.id : a.createdAt > b.createdAt

/**
 * @param head the newest ones that pass the filter, as they are now
 * @returns the list with them; the same where nothing changed; undefined where so much is new that it must be read again
 */
export function mergeNewSubmissions(
  list: SubmissionPages,
  head: ResultPage<Submission>,
  filter: InboxFilter,
): SubmissionPages | undefined {
  const [first] = list.pages
  const rows = list.pages.flatMap((page) => page.data)
  if (!first) return undefined
  const known = new Set(rows.map(({ id }) => id))
  const fresh = head.data.filter(({ id }) => !known.has(id))
  const newest = rows[0]
  const oldest = head.data.at(-1)
  // Between what is new and what was known there may be more; or something came back into the middle.
  if (fresh.length > 0 && fresh.length === head.data.length && head.nextCursor !== null) return undefined
  if (newest && fresh.some((one) => !isNewer(one, newest))) return undefined
  const now = new Map(head.data.map((one) => [one.id, one]))
  let changed = fresh.length > 0 || head.total !== first.total
  const keep = (row: Submission): Submission[] => {
    const seen = now.get(row.id)
    if (seen) {
      if (JSON.stringify(seen) === JSON.stringify(row)) return [row]
      changed = true
      return [seen]
    }
    // Below what was asked for, or left here on purpose when it was read.
    const isBelow = head.nextCursor !== null && oldest !== undefined && !isNewer(row, oldest)
    if (isBelow || !includesStatus(filter, row.status)) return [row]
    changed = true
    return []
  }
  const pages = list.pages.map((page) => ({ ...page, data: page.data.flatMap(keep), total: head.total }))
  if (!changed) return list
  const [top, ...others] = pages
  if (!top) return undefined
  return { ...list, pages: [{ ...top, data: [...fresh, ...top.data] }, ...others] }
}
