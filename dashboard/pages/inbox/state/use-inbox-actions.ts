// The actions for the open submission, for buttons and shortcuts, and moving through the list.

import { useEffect, useMemo, useRef } from 'react'
import {
  type InboxFilter,
  includesStatus,
  type Submission,
  type SubmissionStatus,
} from '../../../api/submissions.ts'
import { useCanEdit } from '../../../shell/use-workspace.ts'
import { useShortcuts } from '../../../ui/shortcuts.ts'
import { NOTES_ID, SEARCH_ID, toRowId } from './element-ids.ts'
import { useSubmissionChanges } from './use-submission-changes.ts'

export interface InboxActions {
  setStatus: (submission: Submission, status: SubmissionStatus) => void
  /** Marks an opened submission as read, without a toast. */
  markRead: (submission: Submission) => void
  remove: (submission: Submission) => void
  step: (by: number) => void
  close: () => void
  /** false after the user marked the submission as unread, and for a viewer. */
  mayMarkRead: (id: number) => boolean
  /** The position of the open submission in the list, from 0; -1 when it is not in the list. */
  at: number
  total: number
  isLast: boolean
}

interface Options {
  rows: Submission[] | undefined
  open: string | undefined
  show: (id: number | undefined) => void
  filter: InboxFilter
  total: number
}

export function useInboxActions({ rows = [], open, show, filter, total }: Options): InboxActions {
  const { setStatus, remove } = useSubmissionChanges()
  const canEdit = useCanEdit()
  const at = rows.findIndex(({ id }) => String(id) === open)
  const markedUnread = useRef(new Set<number>())
  /** The last position, for a submission that has left the list. */
  const lastPosition = useRef(0)
  useEffect(() => {
    if (at !== -1) lastPosition.current = at
  }, [at])
  // biome-ignore lint/correctness/useExhaustiveDependencies: opening a submission again allows marking it as read
  useEffect(() => markedUnread.current.clear(), [open])
  const goTo = (position: number) => {
    const row = rows[Math.min(Math.max(position, 0), rows.length - 1)]
    if (!row) return
    show(row.id)
    const element = document.getElementById(toRowId(row.id))
    element?.focus({ preventScroll: true })
    element?.scrollIntoView({ block: 'nearest' })
  }
  const step = (by: number) => {
    if (at !== -1) goTo(at + by)
    // The open submission has left the list: the next one has its position.
    else if (open !== undefined) goTo(by > 0 ? lastPosition.current : lastPosition.current - 1)
    else goTo(0)
  }
  /** Opens a neighbor when the open submission leaves the list. */
  const openNeighbor = () => {
    if (at === -1) return
    if (rows.length > 1) goTo(at + 1 < rows.length ? at + 1 : at - 1)
    else show(undefined)
  }
  const actions: InboxActions = {
    step,
    at,
    total,
    isLast: at === rows.length - 1,
    close: () => show(undefined),
    mayMarkRead: (id) => canEdit && !markedUnread.current.has(id),
    markRead: (submission) => setStatus(submission, 'read', true),
    setStatus(submission, status) {
      if (status === 'new') markedUnread.current.add(submission.id)
      else markedUnread.current.delete(submission.id)
      setStatus(submission, status, status === 'new' || status === 'read')
      if (!includesStatus(filter, status) && (status === 'archived' || status === 'spam')) openNeighbor()
    },
    remove(submission) {
      remove(submission)
      openNeighbor()
    },
  }
  useInboxShortcuts(actions, rows[at])
  return actions
}

/** The list of shortcuts stays the same between renders; each shortcut reads the latest actions when it runs. */
function useInboxShortcuts(actions: InboxActions, row: Submission | undefined) {
  const latest = useRef({ actions, row })
  latest.current = { actions, row }
  const keys = useMemo(() => {
    const toggleStatus = (status: SubmissionStatus) => () => {
      const { actions, row } = latest.current
      if (row) actions.setStatus(row, row.status === status && status !== 'new' ? 'read' : status)
    }
    return [
      { keys: 'j', label: 'Next submission', run: () => latest.current.actions.step(1) },
      { keys: 'k', label: 'Previous submission', run: () => latest.current.actions.step(-1) },
      { keys: 'r', label: 'Mark as read', changes: true, run: toggleStatus('read') },
      { keys: 'u', label: 'Mark as unread', changes: true, run: toggleStatus('new') },
      { keys: 'e', label: 'Archive or move to inbox', changes: true, run: toggleStatus('archived') },
      { keys: 's', label: 'Mark as spam or not spam', changes: true, run: toggleStatus('spam') },
      {
        keys: '#',
        label: 'Delete',
        changes: true,
        run: () => latest.current.row && latest.current.actions.remove(latest.current.row),
      },
      {
        keys: 'n',
        label: 'Write a note',
        changes: true,
        run: () => document.getElementById(NOTES_ID)?.focus(),
      },
      { keys: '/', label: 'Search submissions', run: () => document.getElementById(SEARCH_ID)?.focus() },
      { keys: 'Escape', label: 'Close submission', run: () => latest.current.actions.close() },
    ]
  }, [])
  useShortcuts(keys)
}
