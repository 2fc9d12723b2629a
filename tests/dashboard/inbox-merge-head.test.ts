import { describe, expect, test } from 'bun:test'
import type { Submission } from '../../dashboard/api/submissions.ts'
import {
  mergeNewSubmissions,
  type SubmissionPages,
} from '../../dashboard/pages/inbox/state/merge-new-submissions.ts'

const sub = (id: number, status: Submission['status'] = 'new', notes: string | null = null) =>
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
  test('gets what came in at its top, and knows how many there are', () => {
    const merged = mergeNewSubmissions(
      list([sub(3), sub(2)], [sub(1)]),
      page([sub(5), sub(4), sub(3)], { total: 5, more: true }),
      {},
    )
    expect(ids(merged)).toEqual([[5, 4, 3, 2], [1]])
    expect(merged?.pages.map(({ total }) => total)).toEqual([5, 5])
  })

  test('stays the very same where nothing changed', () => {
    const before = list([sub(2), sub(1)])
    expect(mergeNewSubmissions(before, page([sub(2), sub(1)]), {})).toBe(before)
  })

  test('shows what a colleague changed, and drops what they archived or deleted', () => {
    const before = list([sub(4), sub(3), sub(2)])
    const merged = mergeNewSubmissions(before, page([sub(4, 'read', 'mine'), sub(2)]), {})
    expect(ids(merged)).toEqual([[4, 2]])
    expect(merged?.pages[0]?.data[0]).toMatchObject({ status: 'read', notes: 'mine' })
  })

  test('keeps what was read in the list of unread ones, and what is further down than was asked', () => {
    const before = list([sub(4, 'read'), sub(3)], [sub(2), sub(1)])
    expect(
      ids(mergeNewSubmissions(before, page([sub(3)], { total: 3, more: true }), { status: 'new' })),
    ).toEqual([
      [4, 3],
      [2, 1],
    ])
  })

  test('is read again where more came in than was asked for, or something came back into the middle', () => {
    const before = list([sub(5), sub(2)])
    expect(mergeNewSubmissions(before, page([sub(9), sub(8)], { total: 9, more: true }), {})).toBeUndefined()
    expect(mergeNewSubmissions(before, page([sub(5), sub(4), sub(2)]), {})).toBeUndefined()
  })

  test('fills when it was empty', () => {
    expect(ids(mergeNewSubmissions(list([]), page([sub(1)]), {}))).toEqual([[1]])
    expect(ids(mergeNewSubmissions(list([sub(1)]), page([]), {}))).toEqual([[]])
  })
})
