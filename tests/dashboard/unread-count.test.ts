// The unread count: its format, and its refresh.

import { expect, test } from 'bun:test'
import { ApiError, createWorkspaceApi } from '../../dashboard/api/client.ts'
import { unreadCountQuery } from '../../dashboard/api/unread-count.ts'
import { formatUnread } from '../../dashboard/ui/format.ts'

test.each([
  [1, '1'],
  [99, '99'],
  [100, '99+'],
])('%d unread submissions are written as %p', (count, text) => expect(formatUnread(count)).toBe(text))

test('the count is polled while the session lasts, and not while the page is hidden', () => {
  const { refetchInterval, refetchIntervalInBackground } = unreadCountQuery(createWorkspaceApi(1))
  const interval = refetchInterval as unknown as (query: object) => number | false
  const pollAfter = (error: Error | null) => interval({ state: { error } })
  expect(pollAfter(null)).toBe(20_000)
  expect(pollAfter(new ApiError(503, 'Temporarily unavailable'))).toBe(20_000)
  expect(pollAfter(new ApiError(401, 'Missing API key'))).toBe(false)
  expect(refetchIntervalInBackground).toBe(false)
})
