// Merges new and changed submissions into the loaded list, without loading the whole list again.

import type { InfiniteData } from '@tanstack/react-query'
import type { ResultPage } from '../../../api/client.ts'
import { type InboxFilter, includesStatus, type Submission } from '../../../api/submissions.ts'

export type SubmissionPages = InfiniteData<ResultPage<Submission>, unknown>

const isNewer = (a: Submission, b: Submission) =>
  a.createdAt === b.createdAt ? a.id > b.id : a.createdAt > b.createdAt

/**
 * @param head the newest submissions that match the filter, in their current state
 * @returns the merged list; the same list when nothing changed; undefined when the list must be loaded again
 */
export function mergeNewSubmissions(
  list: SubmissionPages,
  head: ResultPage<Submission>,
  filter: InboxFilter,
): SubmissionPages | undefined {
  const [first] = list.pages
  const rows = list.pages.flatMap((page) => page.data)
  if (!first) return undefined
  const loadedIds = new Set(rows.map(({ id }) => id))
  const added = head.data.filter(({ id }) => !loadedIds.has(id))
  const newest = rows[0]
  const oldest = head.data.at(-1)
  // All of `head` is new, so that there may be more between it and the list; or a submission returned into the
  // middle.
  if (added.length > 0 && added.length === head.data.length && head.nextCursor !== null) return undefined
  if (newest && added.some((each) => !isNewer(each, newest))) return undefined
  const headById = new Map(head.data.map((each) => [each.id, each]))
  let changed = added.length > 0 || head.total !== first.total
  const updateRow = (row: Submission): Submission[] => {
    const current = headById.get(row.id)
    if (current) {
      if (JSON.stringify(current) === JSON.stringify(row)) return [row]
      changed = true
      return [current]
    }
    // Older than `head`, or read in a list of unread submissions, where it stays until the list is loaded again.
    const isBelow = head.nextCursor !== null && oldest !== undefined && !isNewer(row, oldest)
    if (isBelow || !includesStatus(filter, row.status)) return [row]
    changed = true
    return []
  }
  const pages = list.pages.map((page) => ({ ...page, data: page.data.flatMap(updateRow), total: head.total }))
  if (!changed) return list
  const [firstPage, ...otherPages] = pages
  if (!firstPage) return undefined
  return { ...list, pages: [{ ...firstPage, data: [...added, ...firstPage.data] }, ...otherPages] }
}
