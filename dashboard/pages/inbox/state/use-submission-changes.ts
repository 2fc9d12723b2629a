// Changes submissions, one or many. A change shows at once, and is reverted when the request fails.

import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Api } from '../../../api/client.ts'
import {
  assignSubmissions,
  deleteSubmissions,
  type InboxFilter,
  includesStatus,
  type Submission,
  type SubmissionState,
  type SubmissionStatus,
  submissionQuery,
  updateSubmissions,
} from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { formatCount } from '../../../ui/format.ts'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { usePendingDeletions, useUndoableDelete } from '../../../ui/overlays/use-undoable-delete.ts'
import { t } from '../../../ui/text.ts'
import type { SubmissionPages } from './merge-new-submissions.ts'
import { isHeldBack } from './submission-status.ts'

export const SUBMISSION_CHANGE = ['submission change']

const DELETION_PREFIX = 'submissions '

/** The ids of deleted submissions while Undo is still possible. */
export function usePendingSubmissionDeletions(): ReadonlySet<number> {
  const pendingKeys = usePendingDeletions()
  return useMemo(
    () =>
      new Set(
        [...pendingKeys].flatMap((key) =>
          key.startsWith(DELETION_PREFIX) ? key.slice(DELETION_PREFIX.length).split(',').map(Number) : [],
        ),
      ),
    [pendingKeys],
  )
}

const STATUS_MESSAGES: Record<SubmissionStatus, string> = {
  new: t('marked as unread'),
  read: t('marked as read'),
  archived: t('archived'),
  spam: 'moved to spam',
  unconfirmed: 'not confirmed',
}

/** The server knows which notifications were sent already. */
const RESTORED = 'restored. Your team gets the notifications that were held back.'

const toMessage = (count: number, action: string) =>
  `${count === 1 ? 'Submission' : formatCount(count, 'submission')} ${action}`

interface StatusChange {
  /** The submissions, with the statuses that they had. */
  before: SubmissionState[]
  status: SubmissionStatus
}

export function useSubmissionChanges() {
  const api = useApi()
  const client = useQueryClient()
  const deleteUndoably = useUndoableDelete()
  const queryPrefix = [api.workspaceId, 'submissions']
  const loadListsAgain = () => client.invalidateQueries({ queryKey: [...queryPrefix, 'list'] })
  const change = useMutation({
    mutationKey: SUBMISSION_CHANGE,
    mutationFn: ({ before, status }: StatusChange) =>
      updateSubmissions(
        api,
        before.map(({ id }) => id),
        status,
      ),
    onMutate({ before, status }) {
      // A request that is under way would bring back the old state.
      void client.cancelQueries({ queryKey: [...queryPrefix, 'head'] })
      updateLoadedSubmissions(client, api, new Map(before.map(({ id }) => [id, { status }])))
    },
    onError(error, { before }) {
      updateLoadedSubmissions(client, api, new Map(before.map(({ id, status }) => [id, { status }])))
      toastError(error, 'Couldn’t save the change')
      // Some of many may be saved, and rows that have left a list come back.
      void loadListsAgain()
    },
    onSettled() {
      void client.invalidateQueries({ queryKey: [...queryPrefix, 'head'] })
      void client.invalidateQueries({ queryKey: [...queryPrefix, 'count'] })
      // The other lists are loaded again when they are shown.
      void client.invalidateQueries({ queryKey: [...queryPrefix, 'list'], refetchType: 'none' })
    },
  })
  const undo = async (before: SubmissionState[], status: SubmissionStatus) => {
    try {
      for (const previous of new Set(before.map((each) => each.status))) {
        const ids = before.filter((each) => each.status === previous).map(({ id }) => id)
        await change.mutateAsync({ before: ids.map((id) => ({ id, status })), status: previous })
      }
      // No loaded list contains the submissions, so that the lists are loaded again.
      await loadListsAgain()
      return true
    } catch {
      // The mutation shows its error.
      return false
    }
  }
  const setStatus = (submissions: SubmissionState[], status: SubmissionStatus, silent = false) => {
    const before = submissions
      .filter((each) => each.status !== status)
      .map(({ id, status }) => ({ id, status }))
    if (before.length === 0) return
    change.mutate({ before, status })
    if (silent) return
    const isRestored = status === 'new' && before.some((each) => isHeldBack(each.status))
    // A submission cannot become unconfirmed again.
    const canUndo = before.every((each) => each.status !== 'unconfirmed')
    toast(toMessage(before.length, isRestored ? RESTORED : STATUS_MESSAGES[status]), {
      action: canUndo ? { label: 'Undo', run: () => undo(before, status) } : undefined,
    })
  }
  const remove = (ids: number[]) =>
    deleteUndoably({
      key: DELETION_PREFIX + ids.join(','),
      message: toMessage(ids.length, 'deleted'),
      remove: () => deleteSubmissions(api, ids),
      invalidates: [queryPrefix, [api.workspaceId, 'forms'], [api.workspaceId, 'analytics']],
    })
  return { setStatus, remove }
}

/** Gives submissions to a member, or to nobody. */
export function useAssignment() {
  const api = useApi()
  const client = useQueryClient()
  return async (submissions: Pick<SubmissionState, 'id'>[], assigneeId: number | null, name: string) => {
    const ids = submissions.map(({ id }) => id)
    try {
      await assignSubmissions(api, ids, assigneeId)
      updateLoadedSubmissions(client, api, new Map(ids.map((id) => [id, { assigneeId }])))
      toast(assigneeId === null ? 'Assignee removed' : `Assigned to ${name}`)
      const queryKey = [api.workspaceId, 'submissions', 'list']
      void client.invalidateQueries({ queryKey, refetchType: 'none' })
    } catch (error) {
      toastError(error, 'Couldn’t change the assignee')
    }
  }
}

/** Updates submissions in all loaded queries. @param changes by id */
export function updateLoadedSubmissions(
  client: QueryClient,
  api: Api,
  changes: ReadonlyMap<number, Partial<Submission>>,
) {
  for (const [id, change] of changes) {
    client.setQueryData(
      submissionQuery(api, String(id)).queryKey,
      (loaded) => loaded && { ...loaded, ...change },
    )
  }
  const lists = client.getQueryCache().findAll({ queryKey: [api.workspaceId, 'submissions', 'list'] })
  for (const { queryKey, state } of lists) {
    const list = state.data as SubmissionPages | undefined
    if (!list) continue
    const updated = updateList(list, changes, queryKey[3] as InboxFilter)
    if (updated !== list) client.setQueryData(queryKey, updated, { updatedAt: state.dataUpdatedAt })
  }
}

/** A submission that was read stays in a list of unread ones, so that no row moves while the user is reading. */
function updateList(
  list: SubmissionPages,
  changes: ReadonlyMap<number, Partial<Submission>>,
  filter: InboxFilter,
): SubmissionPages {
  let isChanged = false
  let totalChange = 0
  const updateRow = (before: Submission): Submission[] => {
    const change = changes.get(before.id)
    if (!change) return [before]
    isChanged = true
    const after = { ...before, ...change }
    const matches = includesStatus(filter, after.status)
    totalChange += Number(matches) - Number(includesStatus(filter, before.status))
    const isAside = [before, after].some(({ status }) => status === 'archived' || isHeldBack(status))
    return !matches && isAside ? [] : [after]
  }
  const pages = list.pages.map((page) => ({ ...page, data: page.data.flatMap(updateRow) }))
  if (!isChanged) return list
  return { ...list, pages: pages.map((page) => ({ ...page, total: page.total + totalChange })) }
}
