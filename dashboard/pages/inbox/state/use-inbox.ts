// The list of the inbox, kept up to date while one looks at it.

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import {
  type InboxFilter,
  inboxPollQuery,
  inboxQuery,
  newestSubmissionsQuery,
} from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { usePendingDeletions } from '../../../ui/overlays/use-undoable-delete.ts'
import { mergeNewSubmissions } from './merge-new-submissions.ts'
import { SUBMISSION_CHANGE, toDeletionKey } from './use-submission-changes.ts'

export type Inbox = ReturnType<typeof useInbox>

export function useInbox(filter: InboxFilter) {
  const api = useApi()
  const client = useQueryClient()
  const leaving = usePendingDeletions()
  const list = useInfiniteQuery(inboxQuery(api, filter))
  const pulse = useQuery({ ...inboxPollQuery(api), enabled: list.isSuccess })
  const head = useQuery(newestSubmissionsQuery(api, filter, pulse.data))
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer that is the same may have been passed over before
  useEffect(() => {
    if (!head.data || client.isMutating({ mutationKey: SUBMISSION_CHANGE }) > 0) return
    const { queryKey } = inboxQuery(api, filter)
    const before = client.getQueryData(queryKey)
    if (!before) return
    const after = mergeNewSubmissions(before, head.data, filter)
    if (after === undefined) void client.invalidateQueries({ queryKey })
    // When it was read stays as it was: what is below the newest may have changed since.
    else if (after !== before)
      client.setQueryData(queryKey, after, { updatedAt: client.getQueryState(queryKey)?.dataUpdatedAt })
  }, [head.data, head.dataUpdatedAt, api, client, filter])
  useEffect(() => {
    if (pulse.data) void client.invalidateQueries({ queryKey: [api.workspaceId, 'submissions', 'count'] })
  }, [pulse.data, api, client])
  const rows = useMemo(
    () => list.data?.pages.flatMap((page) => page.data).filter(({ id }) => !leaving.has(toDeletionKey(id))),
    [list.data, leaving],
  )
  return { list, rows, total: list.data?.pages[0]?.total ?? 0 }
}
