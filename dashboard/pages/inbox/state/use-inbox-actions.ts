// What can be done with the open submission, by buttons and by single keys; and the way through the list.

import { useEffect, useMemo, useRef } from 'react'
import {
  type InboxFilter,
  includesStatus,
  type Submission,
  type SubmissionStatus,
} from '../../../api/submissions.ts'
import { useShortcuts } from '../../../ui/shortcuts.ts'
import { useSubmissionChanges } from './use-submission-changes.ts'

export interface InboxActions {
  setStatus: (submission: Submission, status: SubmissionStatus) => void
  /** Because it was looked at: nothing is said about it. */
  markRead: (submission: Submission) => void
  remove: (submission: Submission) => void
  step: (by: number) => void
  close: () => void
  /** Not while it is marked as unread by hand. */
  mayMarkRead: (id: number) => boolean
  /** Where the open one stands, from 0; -1 where it is not in the list. */
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

export const toRowId = (id: number) => `submission-${id}`
export const SEARCH_ID = 'inbox-search'
export const READER_ID = 'inbox-reader'

export function useInboxActions({ rows = [], open, show, filter, total }: Options): InboxActions {
  const { setStatus, remove } = useSubmissionChanges()
  const at = rows.findIndex(({ id }) => String(id) === open)
  const unread = useRef(new Set<number>())
  /** Where it stood, in case it has gone from the list. */
  const stood = useRef(0)
  useEffect(() => {
    if (at !== -1) stood.current = at
  }, [at])
  // biome-ignore lint/correctness/useExhaustiveDependencies: who opens it again has read it
  useEffect(() => unread.current.clear(), [open])
  const goTo = (place: number) => {
    const row = rows[Math.min(Math.max(place, 0), rows.length - 1)]
    if (!row) return
    show(row.id)
    const element = document.getElementById(toRowId(row.id))
    element?.focus({ preventScroll: true })
    element?.scrollIntoView({ block: 'nearest' })
  }
  const step = (by: number) => {
    if (at !== -1) goTo(at + by)
    // It has gone: the next one has taken its place.
    else if (open !== undefined) goTo(by > 0 ? stood.current : stood.current - 1)
    else goTo(0)
  }
  /** The one to read when this one leaves the list. */
  const leave = () => {
    if (at === -1) return
    if (rows.length > 1) goTo(at + 1 < rows.length ? at + 1 : at - 1)
    else show(undefined)
  }
  const acts: InboxActions = {
    step,
    at,
    total,
    isLast: at === rows.length - 1,
    close: () => show(undefined),
    mayMarkRead: (id) => !unread.current.has(id),
    markRead: (submission) => setStatus(submission, 'read', true),
    setStatus(submission, status) {
      if (status === 'new') unread.current.add(submission.id)
      else unread.current.delete(submission.id)
      setStatus(submission, status, status === 'new' || status === 'read')
      if (!includesStatus(filter, status) && (status === 'archived' || status === 'spam')) leave()
    },
    remove(submission) {
      remove(submission)
      leave()
    },
  }
  useInboxShortcuts(acts, rows[at])
  return acts
}

/** The keys stay the same between renders; what they do is looked up when they are pressed. */
function useInboxShortcuts(acts: InboxActions, row: Submission | undefined) {
  const now = useRef({ acts, row })
  now.current = { acts, row }
  const keys = useMemo(() => {
    const does = (status: SubmissionStatus) => () => {
      const { acts, row } = now.current
      if (row) acts.setStatus(row, row.status === status && status !== 'new' ? 'read' : status)
    }
    return [
      { keys: 'j', label: 'Next submission', run: () => now.current.acts.step(1) },
      { keys: 'k', label: 'Previous submission', run: () => now.current.acts.step(-1) },
      { keys: 'r', label: 'Mark as read', run: does('read') },
      { keys: 'u', label: 'Mark as unread', run: does('new') },
      { keys: 'e', label: 'Archive, or take back out', run: does('archived') },
      { keys: 's', label: 'Spam, or not spam', run: does('spam') },
      {
        keys: '#',
        label: 'Delete',
        run: () => now.current.row && now.current.acts.remove(now.current.row),
      },
      { keys: 'n', label: 'Write a note', run: () => document.getElementById('inbox-notes')?.focus() },
      { keys: '/', label: 'Search submissions', run: () => document.getElementById(SEARCH_ID)?.focus() },
      { keys: 'Escape', label: 'Close the submission', run: () => now.current.acts.close() },
    ]
  }, [])
  useShortcuts(keys)
}
