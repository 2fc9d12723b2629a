// Changes submissions. A change shows at once, and is reverted when the request fails.

import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query'
import type { Api } from '../../../api/client.ts'
import {
  deleteSubmission,
  type InboxFilter,
  includesStatus,
  type Submission,
  type SubmissionChanges,
  type SubmissionStatus,
  submissionQuery,
  updateSubmission,
} from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { useUndoableDelete } from '../../../ui/overlays/use-undoable-delete.ts'
import type { SubmissionPages } from './merge-new-submissions.ts'

export const SUBMISSION_CHANGE = ['submission change']
/** The key of a submission that waits for its deletion. */
export const toDeletionKey = (id: number) => `submission ${id}`

const STATUS_MESSAGES: Record<SubmissionStatus, string> = {
  new: 'Marked as unread',
  read: 'Marked as read',
  archived: 'Archived',
  spam: 'Moved to spam',
}

interface Change {
  submission: Submission
  changes: SubmissionChanges
}

export function useSubmissionChanges() {
  const api = useApi()
  const client = useQueryClient()
  const deleteUndoably = useUndoableDelete()
  const queryPrefix = [api.workspaceId, 'submissions']
  const change = useMutation({
    mutationKey: SUBMISSION_CHANGE,
    mutationFn: ({ submission, changes }: Change) => updateSubmission(api, submission.id, changes),
    onMutate({ submission, changes }) {
      // A request that is under way would bring back the old state.
      void client.cancelQueries({ queryKey: [...queryPrefix, 'head'] })
      updateLoadedSubmission(client, api, { ...submission, ...changes })
    },
    onError(error, { submission }) {
      updateLoadedSubmission(client, api, submission)
      toastError(error, 'Could not save the change')
    },
    onSettled() {
      void client.invalidateQueries({ queryKey: [...queryPrefix, 'head'] })
      void client.invalidateQueries({ queryKey: [...queryPrefix, 'count'] })
      // The other lists are loaded again when they are shown.
      void client.invalidateQueries({ queryKey: [...queryPrefix, 'list'], refetchType: 'none' })
    },
  })
  const setStatus = (submission: Submission, status: SubmissionStatus, silent = false) => {
    if (submission.status === status) return
    change.mutate({ submission, changes: { status } })
    if (silent) return
    const previous = submission.status
    toast(STATUS_MESSAGES[status], {
      action: {
        label: 'Undo',
        run: () =>
          void change
            .mutateAsync({ submission: { ...submission, status }, changes: { status: previous } })
            // No loaded list contains the submission, so that the lists are loaded again.
            .then(
              () => client.invalidateQueries({ queryKey: [...queryPrefix, 'list'] }),
              () => {},
            ),
      },
    })
  }
  const remove = (submission: Submission) =>
    deleteUndoably({
      key: toDeletionKey(submission.id),
      message: 'Submission deleted',
      remove: () => deleteSubmission(api, submission.id),
      invalidates: [queryPrefix, [api.workspaceId, 'forms'], [api.workspaceId, 'analytics']],
    })
  return { setStatus, remove }
}

/** Updates a submission in all loaded queries. */
export function updateLoadedSubmission(client: QueryClient, api: Api, submission: Submission) {
  client.setQueryData(submissionQuery(api, String(submission.id)).queryKey, submission)
  const lists = client.getQueryCache().findAll({ queryKey: [api.workspaceId, 'submissions', 'list'] })
  for (const { queryKey, state } of lists) {
    const list = state.data as SubmissionPages | undefined
    if (!list) continue
    const updated = updateList(list, submission, queryKey[3] as InboxFilter)
    if (updated !== list) client.setQueryData(queryKey, updated, { updatedAt: state.dataUpdatedAt })
  }
}

/** A submission that was read stays in a list of unread ones, so that no row moves while the user is reading. */
function updateList(list: SubmissionPages, submission: Submission, filter: InboxFilter): SubmissionPages {
  const before = list.pages.flatMap((page) => page.data).find(({ id }) => id === submission.id)
  if (!before) return list
  const matches = includesStatus(filter, submission.status)
  const leaves =
    !matches &&
    (submission.status === 'archived' ||
      submission.status === 'spam' ||
      before.status === 'archived' ||
      before.status === 'spam')
  const totalChange = Number(matches) - Number(includesStatus(filter, before.status))
  return {
    ...list,
    pages: list.pages.map((page) => ({
      ...page,
      total: page.total + totalChange,
      data: page.data.flatMap((row) => (row.id !== submission.id ? [row] : leaves ? [] : [submission])),
    })),
  }
}
