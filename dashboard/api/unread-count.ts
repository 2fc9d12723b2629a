// The number of unread submissions over the REST API. Apart from submissions.ts, because the first page loads this file.

import { queryOptions } from '@tanstack/react-query'
import type { Api } from './client.ts'
import { pollEvery } from './session.ts'

const POLL_MS = 20_000

/** Shares its place with `submissionCountQuery`: changes of submissions load it again at once. */
export const unreadCountQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'submissions', 'count', { status: 'new' }],
    queryFn: async ({ signal }) =>
      (await api.page('/submissions', { query: { status: 'new', limit: 1 }, signal })).total,
    refetchInterval: pollEvery(POLL_MS),
    refetchIntervalInBackground: false,
  })
