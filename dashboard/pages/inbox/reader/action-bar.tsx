// The buttons for the open submission. Each label names the shortcut.

import {
  Archive,
  ArchiveRestore,
  ArrowLeft,
  ChevronDown,
  ChevronUp,
  Mail,
  MailOpen,
  OctagonAlert,
  Trash2,
} from 'lucide-react'
import type { Submission } from '../../../api/submissions.ts'
import { useCanEdit } from '../../../shell/use-workspace.ts'
import { IconButton } from '../../../ui/button.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { isHeldBack } from '../state/submission-status.ts'
import type { InboxActions } from '../state/use-inbox-actions.ts'
import { ReplyButton } from './reply-button.tsx'

export function ActionBar({ submission, actions }: { submission: Submission; actions: InboxActions }) {
  const canEdit = useCanEdit()
  return (
    <div className="sticky top-0 z-10 flex items-center gap-0.5 border-b border-line bg-paper px-2 py-1.5 max-lg:top-13 sm:px-4">
      <IconButton label="Back to the list (Escape)" className="lg:hidden" onClick={actions.close}>
        <ArrowLeft size={18} />
      </IconButton>
      {canEdit && <ReplyButton key={submission.id} submission={submission} />}
      {canEdit && <Changes submission={submission} actions={actions} />}
      <span className="ml-auto text-sm text-soft tabular-nums max-sm:sr-only">
        {actions.at !== -1 && `${formatNumber(actions.at + 1)} of ${formatNumber(actions.total)}`}
      </span>
      <span className="flex max-sm:ml-auto">
        <IconButton label="Previous (k)" disabled={actions.at === 0} onClick={() => actions.step(-1)}>
          <ChevronUp size={18} />
        </IconButton>
        <IconButton label="Next (j)" disabled={actions.isLast} onClick={() => actions.step(1)}>
          <ChevronDown size={18} />
        </IconButton>
      </span>
    </div>
  )
}

function Changes({ submission, actions }: { submission: Submission; actions: InboxActions }) {
  const { status } = submission
  const isNew = status === 'new'
  const isArchived = status === 'archived'
  const isSpam = status === 'spam'
  return (
    <>
      <IconButton
        label={isArchived ? 'Move to inbox (e)' : 'Archive (e)'}
        onClick={() => actions.setStatus([submission], isArchived ? 'read' : 'archived')}
      >
        {isArchived ? <ArchiveRestore size={17} /> : <Archive size={17} />}
      </IconButton>
      <IconButton
        label={isSpam ? 'Not spam (s)' : 'Mark as spam (s)'}
        onClick={() => actions.setStatus([submission], isSpam ? 'new' : 'spam')}
      >
        <OctagonAlert size={17} className={isSpam ? 'text-danger' : undefined} />
      </IconButton>
      {!isHeldBack(status) && (
        <IconButton
          label={isNew ? 'Mark as read (r)' : 'Mark as unread (u)'}
          onClick={() => actions.setStatus([submission], isNew ? 'read' : 'new')}
        >
          {isNew ? <MailOpen size={17} /> : <Mail size={17} />}
        </IconButton>
      )}
      <IconButton label="Delete (#)" onClick={() => actions.remove([submission])}>
        <Trash2 size={17} />
      </IconButton>
    </>
  )
}
