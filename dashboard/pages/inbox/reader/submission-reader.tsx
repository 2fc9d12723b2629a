// The open submission: its fields, notes, attribution and details.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { MailOpen, MailQuestion, ShieldCheck } from 'lucide-react'
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { ApiError } from '../../../api/client.ts'
import { formNamesQuery } from '../../../api/forms.ts'
import { type Submission, submissionQuery } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatCountryName, formatExactly, formatTime } from '../../../ui/format.ts'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { findWebUrl, STATUS_LABELS, toSenderName } from '../state/display-text.ts'
import { READER_ID } from '../state/element-ids.ts'
import { toFieldLabel, useFormOf } from '../state/field-labels.ts'
import { STATUS_TONES } from '../state/submission-status.ts'
import type { InboxActions } from '../state/use-inbox-actions.ts'
import { ActionBar } from './action-bar.tsx'
import { isSiteOnly } from './attribution-story.ts'
import { AttributionTimeline } from './attribution-timeline.tsx'
import { FileList } from './file-list.tsx'
import { HeldBackNotice } from './held-back-notice.tsx'
import { LeadBar } from './lead-bar.tsx'
import { Notes } from './notes.tsx'
import { Outcomes } from './outcomes.tsx'
import { PageUrl } from './page-url.tsx'
import { PersonButtons } from './person-buttons.tsx'
import { TeamReplies } from './team-replies.tsx'

interface Props {
  open: string | undefined
  rows: Submission[] | undefined
  actions: InboxActions
  /** The person has not opened it: it stays unread. */
  isShownOnly?: boolean
}

export function SubmissionReader({ open, rows, actions, isShownOnly = false }: Props) {
  const api = useApi()
  const listRow = rows?.find(({ id }) => String(id) === open)
  const query = useQuery({
    ...submissionQuery(api, open ?? ''),
    // The list is not loaded again when an older submission is decided.
    enabled: open !== undefined && rows !== undefined && (!listRow || listRow.attribution === 'pending'),
  })
  if (open === undefined) return rows && rows.length > 0 ? <NothingOpen /> : null
  const submission = listRow?.attribution === 'pending' ? (query.data ?? listRow) : (listRow ?? query.data)
  if (submission)
    return (
      <OpenSubmission
        key={submission.id}
        submission={submission}
        actions={actions}
        isShownOnly={isShownOnly}
      />
    )
  if (query.error instanceof ApiError && query.error.status === 404)
    return (
      <div className="p-6">
        <EmptyState
          icon={MailQuestion}
          title="This submission doesn’t exist"
          action={<Button onClick={actions.close}>Back to the inbox</Button>}
        >
          It was deleted, or it belongs to another workspace.
        </EmptyState>
      </div>
    )
  return (
    <div className="p-6">
      {query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : (
        <SkeletonRows rows={5} className="h-12" />
      )}
    </div>
  )
}

const NothingOpen = () => (
  <div className="grid h-full place-content-center justify-items-center gap-3 p-6 text-center text-soft">
    <MailOpen size={28} aria-hidden />
    <p>Select a submission to read it.</p>
    <p className="text-sm">
      Press <kbd>j</kbd> and <kbd>k</kbd> to move through the list, <kbd>?</kbd> for all shortcuts.
    </p>
  </div>
)

/** A submission that is open for this time counts as read; while moving through the list it does not. */
const READ_MS = 900

interface OpenSubmissionProps {
  submission: Submission
  actions: InboxActions
  isShownOnly: boolean
}

function OpenSubmission({ submission, actions, isShownOnly }: OpenSubmissionProps) {
  const isNew = submission.status === 'new'
  const latest = useRef({ submission, actions })
  latest.current = { submission, actions }
  useEffect(() => {
    if (!isNew || isShownOnly) return
    const timer = setTimeout(() => {
      const { submission, actions } = latest.current
      if (actions.mayMarkRead(submission.id) && document.visibilityState === 'visible')
        actions.markRead(submission)
    }, READ_MS)
    return () => clearTimeout(timer)
  }, [isNew, isShownOnly])
  const article = useRef<HTMLElement>(null)
  // The pane would keep its scroll position between submissions. (In braces: an effect must not return a promise.)
  useLayoutEffect(() => {
    article.current?.closest('section')?.scrollTo(0, 0)
  }, [])
  return (
    <article
      ref={article}
      id={READER_ID}
      tabIndex={-1}
      className="outline-none"
      aria-label={`Submission from ${toSenderName(submission)}`}
    >
      <ActionBar submission={submission} actions={actions} />
      <div className="grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-6 px-4 py-5 sm:px-6">
        <Head submission={submission} />
        <HeldBackNotice submission={submission} actions={actions} />
        <LeadBar submission={submission} />
        <Fields submission={submission} />
        {submission.consent && <ConsentLine consent={submission.consent} />}
        {submission.files.length > 0 && <FileList submission={submission} />}
        <TeamReplies submission={submission} />
        <Outcomes submission={submission} />
        <Notes key={submission.id} submission={submission} />
        {!submission.test && <AttributionTimeline submission={submission} />}
        <SubmissionDetails submission={submission} />
      </div>
    </article>
  )
}

/** The details of a submission: location, device, source and ids. */
function SubmissionDetails({ submission }: { submission: Submission }) {
  const { country, region, city, browser, os, device } = submission
  const place = [city, region !== city ? region : null].filter(Boolean).join(', ')
  const rows: [string, ReactNode][] = [
    ['Country', country && formatCountryName(country)],
    ['City', place],
    ['Device', [device, os, browser].filter(Boolean).join(' · ')],
    ['Referrer', submission.referrer],
    ['Landing page', submission.landingUrl && <PageUrl url={submission.landingUrl} />],
    ['Page', submission.pageUrl && <PageUrl url={submission.pageUrl} isSiteOnly={isSiteOnly(submission)} />],
    ['UTM source', submission.utmSource],
    ['UTM medium', submission.utmMedium],
    ['UTM campaign', submission.utmCampaign],
    ['UTM term', submission.utmTerm],
    ['UTM content', submission.utmContent],
    ['Spam filter', submission.status !== 'spam' && submission.spamReasons.join(' ')],
    ['Received', formatExactly(submission.createdAt)],
    ['Visit', submission.sessionLinked ? 'Recorded by the snippet' : 'Not recorded'],
    ['Click ID', submission.clickId && <code className="break-all">{submission.clickId}</code>],
    ['Submission ID', <code key="id">{submission.id}</code>],
    ['Notifications', <NotificationsLink key="deliveries" id={submission.id} />],
  ]
  return (
    <Card title="Details">
      <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
        {rows.map(
          ([name, value]) =>
            value && (
              <div key={name} className="col-span-2 grid grid-cols-subgrid">
                <dt className="text-soft">{name}</dt>
                <dd className="min-w-0 wrap-anywhere">{value}</dd>
              </div>
            ),
        )}
      </dl>
      {submission.email && (
        <div className="mt-4 border-t border-line pt-3">
          <PersonButtons email={submission.email} />
        </div>
      )}
    </Card>
  )
}

const NotificationsLink = ({ id }: { id: number }) => (
  <Link
    to="/$workspaceId/notifications/deliveries"
    params={{ workspaceId: String(useApi().workspaceId) }}
    search={{ submissionId: String(id) }}
    className="text-link"
  >
    View deliveries
  </Link>
)

/** The sender's consent: the text that the page showed, and when. */
const ConsentLine = ({ consent }: { consent: NonNullable<Submission['consent']> }) => (
  <p className="flex items-start gap-2 text-sm">
    <ShieldCheck size={17} aria-hidden className="mt-0.5 shrink-0 text-accent" />
    <span className="min-w-0 wrap-anywhere">
      Agreed to “{consent.text}”{' '}
      <span className="text-soft">
        ({consent.field}, {formatTime(consent.at)})
      </span>
    </span>
  </p>
)

function Head({ submission }: { submission: Submission }) {
  const api = useApi()
  const forms = useQuery(formNamesQuery(api))
  const { status, email, formKey, createdAt, duplicateOf } = submission
  const workspaceId = String(api.workspaceId)
  return (
    <header className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 text-xl font-semibold wrap-anywhere">{toSenderName(submission)}</h2>
        {submission.test && <Badge>Test</Badge>}
        {status !== 'read' && <Badge tone={STATUS_TONES[status]}>{STATUS_LABELS[status]}</Badge>}
      </div>
      {email && (
        <p className="flex min-w-0 items-center gap-1">
          <a href={`mailto:${encodeURIComponent(email).replace('%40', '@')}`} className="truncate text-link">
            {email}
          </a>
          <CopyButton text={email} label="Copy email address" />
        </p>
      )}
      <p className="text-sm wrap-anywhere text-soft">
        <RelativeTime at={createdAt} />, {formatTime(createdAt)}, via{' '}
        <Link
          to="/$workspaceId/forms/$formKey"
          params={{ workspaceId, formKey }}
          search={{}}
          className="text-link"
        >
          {forms.data?.find((form) => form.formKey === formKey)?.name ?? formKey}
        </Link>
      </p>
      {submission.test && (
        <p className="mt-2 rounded-lg bg-sunken px-3 py-2 text-sm">
          Sent with “Try it” in the dashboard. It notifies nobody and counts nowhere.
        </p>
      )}
      {duplicateOf !== null && !submission.test && (
        <p className="mt-2 rounded-lg bg-warn-tint px-3 py-2 text-sm">
          Duplicate: the same submission arrived less than 30 seconds earlier, so no notifications were sent.{' '}
          <Link
            to="/$workspaceId/inbox"
            params={{ workspaceId }}
            search={(search) => ({ ...search, open: String(duplicateOf) })}
            className="text-link"
          >
            Open the original
          </Link>
        </p>
      )}
    </header>
  )
}

function Fields({ submission }: { submission: Submission }) {
  const labels = useFormOf(submission)?.fieldLabels ?? {}
  const entries = Object.entries(submission.fields)
  if (entries.length === 0) return <p className="text-soft">This submission has no fields.</p>
  return (
    <dl className="grid grid-cols-[minmax(0,1fr)] gap-4 rounded-2xl border border-line bg-card p-4 sm:p-5">
      {entries.map(([name, value]) => (
        <div key={name} className="grid grid-cols-[minmax(0,1fr)] gap-0.5">
          <dt className="text-sm wrap-anywhere text-soft" title={name}>
            {toFieldLabel(labels, name)}
          </dt>
          <dd className="wrap-anywhere whitespace-pre-wrap">
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Value({ value }: { value: string }) {
  if (value.trim() === '') return <span className="text-soft">Empty</span>
  const webUrl = findWebUrl(value)
  if (!webUrl) return value
  return (
    <a href={webUrl} target="_blank" rel="noreferrer noopener nofollow" className="text-link">
      {value}
    </a>
  )
}
