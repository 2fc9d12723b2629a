// The shortcuts of the inbox. A change is made to the selected submissions, else to the open one, else to the focused one.

import { useMemo, useRef } from 'react'
import type { Submission, SubmissionState, SubmissionStatus } from '../../../api/submissions.ts'
import { type Shortcut, useShortcuts } from '../../../ui/shortcuts.ts'
import {
  ASSIGNEE_ID,
  findRowSubmission,
  focusControl,
  focusRow,
  LIST_ID,
  NOTES_ID,
  REPLY_ID,
  SEARCH_ID,
  STAGE_ID,
} from './element-ids.ts'
import { isHeldBack } from './submission-status.ts'
import type { InboxActions } from './use-inbox-actions.ts'
import type { SubmissionSelection } from './use-submission-selection.ts'

export interface ShortcutTargets {
  actions: InboxActions
  selection: SubmissionSelection
  rows: Submission[]
  open: string | undefined
}

/** The focused row, else the open one. */
function findCurrentRow({ rows, open }: ShortcutTargets): Submission | undefined {
  const focused = findRowSubmission(document.activeElement)
  return rows.find(({ id }) => id === focused) ?? rows.find(({ id }) => String(id) === open)
}

function findTargets(targets: ShortcutTargets): SubmissionState[] {
  if (targets.selection.selected.length > 0) return targets.selection.selected
  const row = targets.rows.find(({ id }) => String(id) === targets.open) ?? findCurrentRow(targets)
  return row ? [row] : []
}

/** Moves the focus, and selects every row on the way. */
function extendSelection(targets: ShortcutTargets, by: number) {
  const { rows, selection } = targets
  const from = findCurrentRow(targets)
  const to = from ? rows[rows.indexOf(from) + by] : rows[0]
  if (!to) return
  selection.selectUpTo(to.id, from?.id)
  focusRow(to.id)
}

const isFocusInList = () => document.getElementById(LIST_ID)?.contains(document.activeElement) ?? false

/** The list of shortcuts stays the same between renders; each shortcut reads the latest targets when it runs. */
export function useInboxShortcuts(targets: ShortcutTargets) {
  const latest = useRef(targets)
  latest.current = targets
  useShortcuts(useMemo(() => listShortcuts(() => latest.current), []))
}

function listShortcuts(get: () => ShortcutTargets): Shortcut[] {
  const change = (keys: string, label: string, run: () => void): Shortcut => ({
    keys,
    label,
    changes: true,
    run,
  })
  /** Where all have the status already, they get another one. */
  const setStatus =
    (status: SubmissionStatus, other: SubmissionStatus = status) =>
    () => {
      const states = findTargets(get())
      const has = states.every((each) => each.status === status)
      get().actions.setStatus(states, has ? other : status)
    }
  /** Read and unread are for what has arrived: spam is restored, and the unconfirmed are confirmed, only on purpose. */
  const setRead = (status: 'read' | 'new') => () =>
    get().actions.setStatus(
      findTargets(get()).filter((each) => !isHeldBack(each.status)),
      status,
    )
  const confirm = () =>
    get().actions.setStatus(
      findTargets(get()).filter(({ status }) => status === 'unconfirmed'),
      'new',
    )
  const extend = (by: number) => () => extendSelection(get(), by)
  return [
    { keys: 'j', label: 'Next submission', run: () => get().actions.step(1) },
    { keys: 'k', label: 'Previous submission', run: () => get().actions.step(-1) },
    change('x', 'Select submission', () => {
      const row = findCurrentRow(get()) ?? get().rows[0]
      if (!row) return
      get().selection.toggle(row.id)
      focusRow(row.id)
    }),
    change('J', 'Select down to the next submission', extend(1)),
    change('K', 'Select up to the previous submission', extend(-1)),
    { ...change('Shift+ArrowDown', 'Select down, in the list', extend(1)), isActive: isFocusInList },
    { ...change('Shift+ArrowUp', 'Select up, in the list', extend(-1)), isActive: isFocusInList },
    {
      ...change('Mod+a', 'Select all loaded submissions, in the list', () => get().selection.selectLoaded()),
      isActive: isFocusInList,
    },
    change('r', 'Mark as read', setRead('read')),
    change('u', 'Mark as unread', setRead('new')),
    change('e', 'Archive or move to inbox', setStatus('archived', 'read')),
    change('s', 'Mark as spam or not spam', setStatus('spam', 'new')),
    change('c', 'Confirm manually', confirm),
    change('#', 'Delete', () => get().actions.remove(findTargets(get()))),
    change('m', 'Reply', () => document.getElementById(REPLY_ID)?.click()),
    change('a', 'Choose an assignee', () => focusControl(ASSIGNEE_ID)),
    change('t', 'Choose a stage', () => focusControl(STAGE_ID)),
    change('n', 'Write a note', () => document.getElementById(NOTES_ID)?.focus()),
    { keys: '/', label: 'Search submissions', run: () => document.getElementById(SEARCH_ID)?.focus() },
    {
      keys: 'Escape',
      label: 'Clear selection, or close submission',
      run() {
        if (get().selection.states.size > 0) get().selection.clear()
        else get().actions.close()
      },
    },
  ]
}
