// The open submission: what was sent, where it came from, and what one does with it.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MailOpen, MailQuestion } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { ApiError } from '../../../api/client.ts'
import { formNamesQuery } from '../../../api/forms.ts'
import { type Submission, submissionQuery } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { formatTime } from '../../../ui/format.ts'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../../ui/states.tsx'
import { TEXT_LINK } from '../../../ui/text-link.ts'
import { findWebUrl, STATUS_LABELS, toSenderName } from '../state/display-text.ts'
import { type InboxActions, READER_ID } from '../state/use-inbox-actions.ts'
import { ActionBar } from './action-bar.tsx'
import { AttributionTimeline } from './attribution-timeline.tsx'
import { Notes } from './notes.tsx'
import { SubmissionDetails } from './submission-details.tsx'

interface Props {
  open: string | undefined
  rows: Submission[] | undefined
  acts: InboxActions
}

export function SubmissionReader({ open, rows, acts }: Props) {
  const api = useApi()
  const listed = rows?.find(({ id }) => String(id) === open)
  const single = useQuery({
    ...submissionQuery(api, open ?? ''),
    // The list is not read again when an older submission is decided.
    enabled: open !== undefined && rows !== undefined && (!listed || listed.attribution === 'pending'),
  })
  if (open === undefined) return rows && rows.length > 0 ? <NothingOpen /> : null
  const submission = listed?.attribution === 'pending' ? (single.data ?? listed) : (listed ?? single.data)
  if (submission) return <OpenSubmission key={submission.id} submission={submission} acts={acts} />
  if (single.error instanceof ApiError && single.error.status === 404)
    return (
      <div className="p-6">
        <EmptyState
          icon={<MailQuestion size={28} />}
          title="There is no such submission"
          action={<Button onClick={acts.close}>Back to the inbox</Button>}
        >
          It was deleted, or belongs to another workspace.
        </EmptyState>
      </div>
    )
  return (
    <div className="p-6">
      {single.isError ? (
        <ErrorState error={single.error} retry={() => void single.refetch()} />
      ) : (
        <SkeletonRows rows={5} className="h-12" />
      )}
    </div>
  )
}

const NothingOpen = () => (
  <div className="grid h-full place-content-center justify-items-center gap-3 p-6 text-center text-soft">
    <MailOpen size={28} aria-hidden />
    <p>Choose a submission to read it.</p>
    <p className="text-sm">
      <kbd>j</kbd> and <kbd>k</kbd> go through them, <kbd>?</kbd> shows all keys.
    </p>
  </div>
)

/** Long enough on the screen to have been read, not passed by. */
const READ_MS = 900

function OpenSubmission({ submission, acts }: { submission: Submission; acts: InboxActions }) {
  const isNew = submission.status === 'new'
  const now = useRef({ submission, acts })
  now.current = { submission, acts }
  useEffect(() => {
    if (!isNew) return
    const timer = setTimeout(() => {
      const { submission, acts } = now.current
      if (acts.mayMarkRead(submission.id) && document.visibilityState === 'visible') acts.markRead(submission)
    }, READ_MS)
    return () => clearTimeout(timer)
  }, [isNew])
  const article = useRef<HTMLElement>(null)
  // The pane stays where the one before was left. (In braces: browsers return a promise, which is no way to clean up.)
  useLayoutEffect(() => {
    article.current?.closest('section')?.scrollTo(0, 0)
  }, [])
  return (
    <article
      ref={article}
      id={READER_ID}
      tabIndex={-1}
      className="outline-none"
      aria-label={`Submission of ${toSenderName(submission)}`}
    >
      <ActionBar submission={submission} acts={acts} />
      <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-6 px-4 py-5 sm:px-6">
        <Head submission={submission} />
        <Fields fields={submission.fields} />
        <Notes key={submission.id} submission={submission} />
        <AttributionTimeline submission={submission} />
        <SubmissionDetails submission={submission} />
      </div>
    </article>
  )
}

function Head({ submission }: { submission: Submission }) {
  const api = useApi()
  const forms = useQuery(formNamesQuery(api))
  const { status, email, formKey, createdAt, duplicateOf } = submission
  const workspaceId = String(api.workspaceId)
  return (
    <header className="grid gap-1">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 text-xl font-semibold break-words">{toSenderName(submission)}</h2>
        {status !== 'read' && (
          <Badge tone={status === 'spam' ? 'bad' : status === 'new' ? 'good' : 'neutral'}>
            {STATUS_LABELS[status]}
          </Badge>
        )}
      </div>
      {email && (
        <p className="flex min-w-0 items-center gap-1">
          <a
            href={`mailto:${encodeURIComponent(email).replace('%40', '@')}`}
            className={`truncate ${TEXT_LINK}`}
          >
            {email}
          </a>
          <CopyButton text={email} label="Copy the e-mail address" />
        </p>
      )}
      <p className="text-sm text-soft">
        <RelativeTime at={createdAt} />, {formatTime(createdAt)}, by{' '}
        <Link
          to="/$workspaceId/forms/$formKey"
          params={{ workspaceId, formKey }}
          search={{}}
          className={TEXT_LINK}
        >
          {forms.data?.find((form) => form.formKey === formKey)?.name ?? formKey}
        </Link>
      </p>
      {duplicateOf !== null && (
        <p className="mt-2 rounded-lg bg-warn-tint px-3 py-2 text-sm">
          A duplicate: the same was sent within 30 seconds before, so nobody was told again.{' '}
          <Link
            to="/$workspaceId/inbox"
            params={{ workspaceId }}
            search={(search) => ({ ...search, open: String(duplicateOf) })}
            className={TEXT_LINK}
          >
            See the first one
          </Link>
        </p>
      )}
    </header>
  )
}

function Fields({ fields }: { fields: Record<string, string> }) {
  const entries = Object.entries(fields)
  if (entries.length === 0) return <p className="text-soft">It was sent without any field.</p>
  return (
    <dl className="grid gap-4 rounded-2xl border border-line bg-card p-4 sm:p-5">
      {entries.map(([name, value]) => (
        <div key={name} className="grid gap-0.5">
          <dt className="text-sm break-words text-soft">{name}</dt>
          <dd className="break-words whitespace-pre-wrap">
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Value({ value }: { value: string }) {
  if (value.trim() === '') return <span className="text-soft">empty</span>
  const address = findWebUrl(value)
  if (!address) return value
  return (
    <a href={address} target="_blank" rel="noreferrer noopener nofollow" className={TEXT_LINK}>
      {value}
    </a>
  )
}
