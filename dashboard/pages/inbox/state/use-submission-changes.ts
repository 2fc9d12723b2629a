// Changing submissions: what is done shows at once, and is taken back where the server says no.

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
/** Of one that is about to be deleted. */
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
  const undoable = useUndoableDelete()
  const all = [api.workspaceId, 'submissions']
  const change = useMutation({
    mutationKey: SUBMISSION_CHANGE,
    mutationFn: ({ submission, changes }: Change) => updateSubmission(api, submission.id, changes),
    onMutate({ submission, changes }) {
      // An answer that is on its way says how it was before.
      void client.cancelQueries({ queryKey: [...all, 'head'] })
      updateLoadedSubmission(client, api, { ...submission, ...changes })
    },
    onError(error, { submission }) {
      updateLoadedSubmission(client, api, submission)
      toastError(error, 'Not changed')
    },
    onSettled() {
      void client.invalidateQueries({ queryKey: [...all, 'head'] })
      void client.invalidateQueries({ queryKey: [...all, 'count'] })
      // The other lists are read again when somebody looks at them.
      void client.invalidateQueries({ queryKey: [...all, 'list'], refetchType: 'none' })
    },
  })
  const setStatus = (submission: Submission, status: SubmissionStatus, quietly = false) => {
    if (submission.status === status) return
    change.mutate({ submission, changes: { status } })
    if (quietly) return
    const before = submission.status
    toast(STATUS_MESSAGES[status], {
      action: {
        label: 'Undo',
        run: () =>
          void change
            .mutateAsync({ submission: { ...submission, status }, changes: { status: before } })
            // It is in no list that is shown: where it belongs, the server knows.
            .then(
              () => client.invalidateQueries({ queryKey: [...all, 'list'] }),
              () => {},
            ),
      },
    })
  }
  const remove = (submission: Submission) =>
    undoable({
      key: toDeletionKey(submission.id),
      message: 'Submission deleted',
      remove: () => deleteSubmission(api, submission.id),
      invalidates: [all, [api.workspaceId, 'forms'], [api.workspaceId, 'analytics']],
    })
  return { setStatus, remove }
}

/** As it is now, in every list and by itself. */
export function updateLoadedSubmission(client: QueryClient, api: Api, submission: Submission) {
  client.setQueryData(submissionQuery(api, String(submission.id)).queryKey, submission)
  const lists = client.getQueryCache().findAll({ queryKey: [api.workspaceId, 'submissions', 'list'] })
  for (const { queryKey, state } of lists) {
    const before = state.data as SubmissionPages | undefined
    if (!before) continue
    const after = withChange(before, submission, queryKey[3] as InboxFilter)
    if (after !== before) client.setQueryData(queryKey, after, { updatedAt: state.dataUpdatedAt })
  }
}

/** What was read stays where it is, though the list is of unread ones: nothing moves under the reader's hand. */
function withChange(list: SubmissionPages, submission: Submission, filter: InboxFilter): SubmissionPages {
  const before = list.pages.flatMap((page) => page.data).find(({ id }) => id === submission.id)
  if (!before) return list
  const stays = includesStatus(filter, submission.status)
  const goes =
    !stays &&
    (submission.status === 'archived' ||
      submission.status === 'spam' ||
      before.status === 'archived' ||
      before.status === 'spam')
  const by = Number(stays) - Number(includesStatus(filter, before.status))
  return {
    ...list,
    pages: list.pages.map((page) => ({
      ...page,
      total: page.total + by,
      data: page.data.flatMap((row) => (row.id !== submission.id ? [row] : goes ? [] : [submission])),
    })),
  }
}
