// The list of the inbox, kept up to date while the page is open.

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import {
  type InboxFilter,
  inboxPollQuery,
  inboxQuery,
  newestSubmissionsQuery,
} from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { mergeNewSubmissions } from './merge-new-submissions.ts'
import { SUBMISSION_CHANGE, usePendingSubmissionDeletions } from './use-submission-changes.ts'

export type Inbox = ReturnType<typeof useInbox>

export function useInbox(filter: InboxFilter) {
  const api = useApi()
  const client = useQueryClient()
  const pendingDeletions = usePendingSubmissionDeletions()
  const list = useInfiniteQuery(inboxQuery(api, filter))
  const pulse = useQuery({ ...inboxPollQuery(api), enabled: list.isSuccess })
  const head = useQuery(newestSubmissionsQuery(api, filter, pulse.data))
  // biome-ignore lint/correctness/useExhaustiveDependencies: an unchanged answer may have been skipped during a mutation
  useEffect(() => {
    if (!head.data || client.isMutating({ mutationKey: SUBMISSION_CHANGE }) > 0) return
    const { queryKey } = inboxQuery(api, filter)
    const current = client.getQueryData(queryKey)
    if (!current) return
    const merged = mergeNewSubmissions(current, head.data, filter)
    if (merged === undefined) void client.invalidateQueries({ queryKey })
    // The list keeps its age: rows below `head` may have changed since.
    else if (merged !== current)
      client.setQueryData(queryKey, merged, { updatedAt: client.getQueryState(queryKey)?.dataUpdatedAt })
  }, [head.data, head.dataUpdatedAt, api, client, filter])
  useEffect(() => {
    if (pulse.data) void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions', 'count'] })
  }, [pulse.data, api, client])
  const loaded = useMemo(() => list.data?.pages.flatMap((page) => page.data), [list.data])
  const rows = useMemo(
    () => loaded?.filter(({ id }) => !pendingDeletions.has(id)),
    [loaded, pendingDeletions],
  )
  const hidden = (loaded?.length ?? 0) - (rows?.length ?? 0)
  return {
    list,
    rows,
    isEmpty: rows?.length === 0 && !list.hasNextPage,
    total: Math.max(0, (list.data?.pages[0]?.total ?? 0) - hidden),
  }
}
