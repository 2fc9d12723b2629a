// Merging new and changed submissions into the loaded list of the inbox.

import { describe, expect, test } from 'bun:test'
import type { Submission } from '../../dashboard/api/submissions.ts'
import {
  mergeNewSubmissions,
  type SubmissionPages,
} from '../../dashboard/pages/inbox/state/merge-new-submissions.ts'

const createSubmission = (id: number, status: Submission['status'] = 'new', notes: string | null = null) =>
  ({ id, status, notes, createdAt: `2026-03-01T12:00:${String(id).padStart(2, '0')}.000Z` }) as Submission
const page = (data: Submission[], { total = data.length, more = false } = {}) => {
  return { data, total, nextCursor: more ? 'next' : null }
}
const list = (...pages: Submission[][]): SubmissionPages => {
  const total = pages.flat().length
  return {
    pages: pages.map((data, at) => page(data, { total, more: at < pages.length - 1 })),
    pageParams: pages.map(String),
  }
}
const ids = (listed: SubmissionPages | undefined) => listed?.pages.map(({ data }) => data.map(({ id }) => id))

describe('the list of the inbox', () => {
  test('gets new submissions at its top, and the new total', () => {
    const merged = mergeNewSubmissions(
      list([createSubmission(3), createSubmission(2)], [createSubmission(1)]),
      page([createSubmission(5), createSubmission(4), createSubmission(3)], { total: 5, more: true }),
      {},
    )
    expect(ids(merged)).toEqual([[5, 4, 3, 2], [1]])
    expect(merged?.pages.map(({ total }) => total)).toEqual([5, 5])
  })

  test('stays the same object when nothing changed', () => {
    const before = list([createSubmission(2), createSubmission(1)])
    expect(mergeNewSubmissions(before, page([createSubmission(2), createSubmission(1)]), {})).toBe(before)
  })

  test('shows changes by other members, and drops submissions that they archived or deleted', () => {
    const before = list([createSubmission(4), createSubmission(3), createSubmission(2)])
    const merged = mergeNewSubmissions(
      before,
      page([createSubmission(4, 'read', 'mine'), createSubmission(2)]),
      {},
    )
    expect(ids(merged)).toEqual([[4, 2]])
    expect(merged?.pages[0]?.data[0]).toMatchObject({ status: 'read', notes: 'mine' })
  })

  test('keeps read submissions in a list of unread ones, and keeps older submissions than the loaded ones', () => {
    const before = list(
      [createSubmission(4, 'read'), createSubmission(3)],
      [createSubmission(2), createSubmission(1)],
    )
    expect(
      ids(
        mergeNewSubmissions(before, page([createSubmission(3)], { total: 3, more: true }), { status: 'new' }),
      ),
    ).toEqual([
      [4, 3],
      [2, 1],
    ])
  })

  test('is loaded again when too many submissions are new, or when a submission returned into the middle', () => {
    const before = list([createSubmission(5), createSubmission(2)])
    expect(
      mergeNewSubmissions(
        before,
        page([createSubmission(9), createSubmission(8)], { total: 9, more: true }),
        {},
      ),
    ).toBeUndefined()
    expect(
      mergeNewSubmissions(before, page([createSubmission(5), createSubmission(4), createSubmission(2)]), {}),
    ).toBeUndefined()
  })

  test('gets its first submission, and becomes empty', () => {
    expect(ids(mergeNewSubmissions(list([]), page([createSubmission(1)]), {}))).toEqual([[1]])
    expect(ids(mergeNewSubmissions(list([createSubmission(1)]), page([]), {}))).toEqual([[]])
  })
})
