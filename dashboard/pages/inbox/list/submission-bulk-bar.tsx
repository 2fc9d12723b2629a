// The bar with actions for all selected submissions, at the bottom of the list.

import { useMutation } from '@tanstack/react-query'
import {
  Archive,
  ArchiveRestore,
  BadgeCheck,
  Mail,
  MailOpen,
  OctagonAlert,
  Trash2,
  UserRoundPlus,
  X,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { type InboxFilter, listSubmissionStates, type SubmissionStatus } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { Menu, MenuItem, MenuSeparator } from '../../../ui/overlays/menu.tsx'
import { toastError } from '../../../ui/overlays/toast.tsx'
import { findRowSubmission, focusRow } from '../state/element-ids.ts'
import { isHeldBack } from '../state/submission-status.ts'
import type { Inbox } from '../state/use-inbox.ts'
import type { InboxActions } from '../state/use-inbox-actions.ts'
import { useMembers } from '../state/use-members.ts'
import { useAssignment } from '../state/use-submission-changes.ts'
import type { SubmissionSelection } from '../state/use-submission-selection.ts'

/** Selecting more would take more than ten requests for their ids, and ten for each change. */
const SELECTION_MAX = 1000

interface Props {
  selection: SubmissionSelection
  inbox: Inbox
  filter: InboxFilter
  actions: InboxActions
}

export function SubmissionBulkBar({ selection, inbox, filter, actions }: Props) {
  const { selected, clear } = selection
  const assign = useAssignment()
  const total = Math.max(inbox.total, selected.length)
  const setStatus = (status: SubmissionStatus) => actions.setStatus(selected, status)
  const arrived = selected.filter(({ status }) => !isHeldBack(status))
  const areAll = (status: SubmissionStatus) => selected.every((each) => each.status === status)
  const action = (label: string, icon: ReactNode, run: () => void, className?: string) => (
    <IconButton label={label} onClick={run} className={className}>
      {icon}
    </IconButton>
  )
  return (
    <div
      role="toolbar"
      aria-label="Selected submissions"
      className="sticky bottom-0 z-10 grid gap-1 border-t border-strong bg-card px-2 py-1.5"
    >
      <div className="flex min-w-0 items-center gap-1">
        <p role="status" className="min-w-0 flex-1 pl-2 text-sm font-medium tabular-nums">
          {formatNumber(selected.length)} of {formatNumber(total)} selected
        </p>
        <SelectAll selection={selection} inbox={inbox} filter={filter} />
        <IconButton
          label="Clear selection (Escape)"
          onClick={() => {
            const first = findFirstSelectedRow(selection)
            clear()
            if (first !== undefined) focusRow(first)
          }}
        >
          <X size={16} />
        </IconButton>
      </div>
      <div className="flex items-center gap-0.5">
        {areAll('unconfirmed') &&
          action('Confirm manually (c)', <BadgeCheck size={17} />, () => setStatus('new'))}
        {arrived.length > 0 && (
          <>
            {action('Mark as read (r)', <MailOpen size={17} />, () => actions.setStatus(arrived, 'read'))}
            {action('Mark as unread (u)', <Mail size={17} />, () => actions.setStatus(arrived, 'new'))}
          </>
        )}
        {areAll('archived')
          ? action('Move to inbox (e)', <ArchiveRestore size={17} />, () => setStatus('read'))
          : action('Archive (e)', <Archive size={17} />, () => setStatus('archived'))}
        {areAll('spam')
          ? action('Not spam (s)', <OctagonAlert size={17} className="text-danger" />, () => setStatus('new'))
          : action('Mark as spam (s)', <OctagonAlert size={17} />, () => setStatus('spam'))}
        <AssignMenu assign={(id, name) => void assign(selected, id, name)} />
        {action('Delete (#)', <Trash2 size={17} />, () => actions.remove(selected), 'ml-auto text-danger!')}
      </div>
    </div>
  )
}

function AssignMenu({ assign }: { assign: (id: number | null, name: string) => void }) {
  const members = useMembers()
  return (
    <Menu
      align="start"
      trigger={
        <IconButton label="Assign">
          <UserRoundPlus size={17} />
        </IconButton>
      }
    >
      {members.map(({ id, name }) => (
        <MenuItem key={id} onSelect={() => assign(id, name)}>
          {name}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => assign(null, '')}>Nobody</MenuItem>
    </Menu>
  )
}

/** Selects all submissions that match the filter, also those that are not loaded, and shows their number. */
function SelectAll({ selection, inbox: { list, total }, filter }: Omit<Props, 'actions'>) {
  const api = useApi()
  const load = useMutation({
    mutationFn: () => listSubmissionStates(api, filter, SELECTION_MAX),
    onError: (error) => toastError(error, 'Couldn’t select all'),
  })
  const count = Math.min(total, SELECTION_MAX)
  if (selection.selected.length >= count) return null
  const select = () => {
    if (!list.hasNextPage) selection.selectLoaded()
    // Not called when the selection was cleared meanwhile, because the bar is gone by then.
    else load.mutate(undefined, { onSuccess: selection.select })
  }
  return (
    <Button variant="quiet" size="small" className="text-accent!" busy={load.isPending} onClick={select}>
      {total > SELECTION_MAX ? `Select newest ${formatNumber(count)}` : `Select all ${formatNumber(count)}`}
    </Button>
  )
}

/** The focused row, else the first selected one that is loaded. */
const findFirstSelectedRow = ({ selected }: SubmissionSelection) =>
  findRowSubmission(document.activeElement) ?? selected[0]?.id
