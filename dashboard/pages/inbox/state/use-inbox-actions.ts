// Actions of the inbox for buttons and shortcuts: changes of submissions, moves through the list, and the focus
// afterwards.

import { useEffect, useRef } from 'react'
import {
  type InboxFilter,
  includesStatus,
  type Submission,
  type SubmissionState,
  type SubmissionStatus,
} from '../../../api/submissions.ts'
import { useCanEdit } from '../../../shell/use-workspace.ts'
import { findRowSubmission, focusRow, isFocusLost, READER_ID } from './element-ids.ts'
import { isHeldBack } from './submission-status.ts'
import { useSubmissionChanges } from './use-submission-changes.ts'
import type { SubmissionSelection } from './use-submission-selection.ts'

export interface InboxActions {
  setStatus: (submissions: SubmissionState[], status: SubmissionStatus) => void
  /** Marks an opened submission as read, without a toast. */
  markRead: (submission: Submission) => void
  remove: (submissions: SubmissionState[]) => void
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
  rows: Submission[]
  /** The submission in the reader. */
  shown: string | undefined
  /** The one in the address: the person has opened it. */
  opened: string | undefined
  show: (id: number | undefined) => void
  filter: InboxFilter
  total: number
  selection: SubmissionSelection
}

export function useInboxActions(options: Options): InboxActions {
  const { rows, shown: open, opened, show, filter, total, selection } = options
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
  useFocusAfterOpening(opened)
  const goTo = (position: number) => {
    const row = rows[Math.min(Math.max(position, 0), rows.length - 1)]
    if (!row) return
    show(row.id)
    focusRow(row.id)
  }
  const step = (by: number) => {
    if (at !== -1) goTo(at + by)
    // The open submission has left the list: the next one has its position.
    else if (open !== undefined) goTo(by > 0 ? lastPosition.current : lastPosition.current - 1)
    else goTo(0)
  }
  /** Submissions leave the list: the next row gets the focus, and is opened if the open one leaves. */
  const leave = (submissions: SubmissionState[]) => {
    const leaving = new Set(submissions.map(({ id }) => id))
    selection.clear()
    const isOpenLeaving = at !== -1 && leaving.has(Number(open))
    const focused = findRowSubmission(document.activeElement) ?? -1
    const pivot = isOpenLeaving ? Number(open) : leaving.has(focused) ? focused : submissions.at(-1)?.id
    const from = rows.findIndex(({ id }) => id === pivot)
    const next =
      rows.slice(from + 1).find(({ id }) => !leaving.has(id)) ??
      rows.slice(0, Math.max(from, 0)).findLast(({ id }) => !leaving.has(id))
    if (isOpenLeaving) show(next?.id)
    if (!next || !focusRow(next.id)) focusMain()
  }
  return {
    step,
    at,
    total,
    isLast: at === rows.length - 1,
    close: () => show(undefined),
    mayMarkRead: (id) => canEdit && !markedUnread.current.has(id),
    markRead: (submission) => setStatus([submission], 'read', true),
    setStatus(submissions, status) {
      for (const { id } of submissions) {
        if (status === 'new') markedUnread.current.add(id)
        else markedUnread.current.delete(id)
      }
      if (submissions.length === 0) return
      const isSmall = submissions.length === 1 && (status === 'new' || status === 'read')
      setStatus(submissions, status, isSmall && !submissions.some((each) => isHeldBack(each.status)))
      if (!includesStatus(filter, status) && (status === 'archived' || status === 'spam')) leave(submissions)
    },
    remove(submissions) {
      if (submissions.length === 0) return
      remove(submissions.map(({ id }) => id))
      leave(submissions)
    },
  }
}

const focusMain = () => document.getElementById('main')?.focus({ preventScroll: true })

/**
 * Moves the focus where it is lost: into the opened submission where a phone hides the list, and back to its row when it
 * is closed.
 */
function useFocusAfterOpening(open: string | undefined) {
  const previous = useRef(open)
  useEffect(() => {
    const before = previous.current
    previous.current = open
    if (before === open || !(isFocusLost() || document.activeElement?.id === 'main')) return
    if (focusRow(Number(open ?? before))) return
    const reader = open === undefined ? null : document.getElementById(READER_ID)
    if (reader) reader.focus({ preventScroll: true })
    else focusMain()
  }, [open])
}
