// The buttons for the open submission; each has a key, which its label names.

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
import { lazy, Suspense, useState } from 'react'
import type { Submission } from '../../../api/submissions.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { formatNumber } from '../../../ui/format.ts'
import type { InboxActions } from '../state/use-inbox-actions.ts'

const ErasePersonDialog = lazy(() => import('../dialogs/erase-person-dialog.tsx'))

export function ActionBar({ submission, acts }: { submission: Submission; acts: InboxActions }) {
  const { status } = submission
  const isNew = status === 'new'
  const isArchived = status === 'archived'
  const isSpam = status === 'spam'
  return (
    <div className="sticky top-0 z-10 flex items-center gap-0.5 border-b border-line bg-paper px-2 py-1.5 max-lg:top-13 sm:px-4">
      <IconButton label="Back to the list (Escape)" className="lg:hidden" onClick={acts.close}>
        <ArrowLeft size={18} />
      </IconButton>
      <IconButton
        label={isArchived ? 'Take out of the archive (e)' : 'Archive (e)'}
        onClick={() => acts.setStatus(submission, isArchived ? 'read' : 'archived')}
      >
        {isArchived ? <ArchiveRestore size={17} /> : <Archive size={17} />}
      </IconButton>
      <IconButton
        label={isSpam ? 'Not spam (s)' : 'Spam (s)'}
        onClick={() => acts.setStatus(submission, isSpam ? 'read' : 'spam')}
      >
        <OctagonAlert size={17} className={isSpam ? 'text-danger' : undefined} />
      </IconButton>
      <IconButton
        label={isNew ? 'Mark as read (r)' : 'Mark as unread (u)'}
        onClick={() => acts.setStatus(submission, isNew ? 'read' : 'new')}
      >
        {isNew ? <MailOpen size={17} /> : <Mail size={17} />}
      </IconButton>
      <IconButton label="Delete (#)" onClick={() => acts.remove(submission)}>
        <Trash2 size={17} />
      </IconButton>
      <span className="ml-auto text-sm text-soft tabular-nums max-sm:sr-only">
        {acts.at !== -1 && `${formatNumber(acts.at + 1)} of ${formatNumber(acts.total)}`}
      </span>
      <span className="flex max-sm:ml-auto">
        <IconButton label="Previous (k)" disabled={acts.at === 0} onClick={() => acts.step(-1)}>
          <ChevronUp size={18} />
        </IconButton>
        <IconButton label="Next (j)" disabled={acts.isLast} onClick={() => acts.step(1)}>
          <ChevronDown size={18} />
        </IconButton>
      </span>
    </div>
  )
}

/** At the end of what is known about a person: the way to forget them. */
export function ErasePersonButton({ email }: { email: string }) {
  const [asked, setAsked] = useState(false)
  return (
    <>
      <Button look="quiet" size="small" onClick={() => setAsked(true)}>
        Erase everything from this address
      </Button>
      <Suspense>{asked && <ErasePersonDialog email={email} onClose={() => setAsked(false)} />}</Suspense>
    </>
  )
}
