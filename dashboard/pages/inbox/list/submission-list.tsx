// The list of submissions: sender, preview, form, link, source. New submissions appear at the top and do not move the scroll
// position.

import {
  ArrowUp,
  FileText,
  Globe,
  Inbox as InboxIcon,
  Link2,
  type LucideIcon,
  Megaphone,
  Paperclip,
  UserRound,
} from 'lucide-react'
import { type MouseEvent, memo, useDeferredValue, useEffect, useRef, useState } from 'react'
import { queryString } from '../../../api/client.ts'
import type { InboxFilter, Submission } from '../../../api/submissions.ts'
import { useCanEdit, useWorkspace } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { EmptyState, NoMatches } from '../../../ui/empty-state.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatCount, formatNumber } from '../../../ui/format.ts'
import { Checkbox } from '../../../ui/forms/field.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { isForBrowser } from '../../../ui/row-click.ts'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import {
  STATUS_LABELS,
  toLinkText,
  toPreviewText,
  toSenderName,
  toSourceText,
} from '../state/display-text.ts'
import { findRowSubmission, focusRow, LIST_ID, READER_ID, toRowId } from '../state/element-ids.ts'
import { describeStage, STAGE_TONES } from '../state/outcome-stages.ts'
import { STATUS_TONES } from '../state/submission-status.ts'
import type { Inbox } from '../state/use-inbox.ts'
import { useMembers } from '../state/use-members.ts'
import type { SubmissionSelection } from '../state/use-submission-selection.ts'

interface Props {
  inbox: Inbox
  filter: InboxFilter
  open: string | undefined
  show: (id: number) => void
  selection: SubmissionSelection
  onClear: () => void
}

export function SubmissionList({ inbox, filter, open, show, selection, onClear }: Props) {
  const { list } = inbox
  const canSelect = useCanEdit()
  // Deferred, so that the page stays responsive when hundreds of rows appear after the search is cleared.
  const rows = useDeferredValue(inbox.rows)
  const workspaceId = String(useWorkspace().id)
  const members = useMembers()
  if (list.isError && !rows)
    return (
      <div className="p-4">
        <ErrorState error={list.error} retry={() => void list.refetch()} />
      </div>
    )
  if (!rows)
    return (
      <div className="p-4">
        <SkeletonRows rows={7} className="h-20" />
      </div>
    )
  if (inbox.isEmpty)
    return (
      <div className="p-4">
        <NoSubmissions filter={filter} onClear={onClear} />
      </div>
    )
  return (
    <>
      <NewSubmissionsNotice rows={rows} />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the rows are links, which the keyboard can press */}
      <ul
        id={LIST_ID}
        onClick={(event) => {
          if (event.shiftKey && canSelect) selectClickedRow(event, selection)
          else openClickedRow(event, open, show)
        }}
        // A click with Shift would select text.
        onMouseDown={(event) => event.shiftKey && canSelect && event.preventDefault()}
      >
        {rows.map((row) => (
          <Row
            key={row.id}
            row={row}
            href={`/app/${workspaceId}/inbox${queryString({ ...filter, open: row.id })}`}
            status={filter.status}
            isOpen={String(row.id) === open}
            isSelected={selection.states.has(row.id)}
            assignee={members.find(({ id }) => id === row.assigneeId)?.name ?? ''}
            select={canSelect ? selection.toggle : undefined}
          />
        ))}
      </ul>
      {list.hasNextPage && <LoadMore load={() => void list.fetchNextPage()} busy={list.isFetchingNextPage} />}
    </>
  )
}

/** Rows are plain links, because each of hundreds of router Links would react to every change of the address. */
function openClickedRow(
  event: MouseEvent<HTMLElement>,
  open: string | undefined,
  show: (id: number) => void,
) {
  const link = (event.target as Element).closest('a')
  const id = link ? findRowSubmission(link) : undefined
  if (id === undefined || isForBrowser(event)) return
  event.preventDefault()
  // A second click moves the focus into the open submission.
  if (String(id) === open) document.getElementById(READER_ID)?.focus()
  else show(id)
}

/** A click with Shift, on the row or its box, selects all rows from the last selected one, else from the focused one. */
function selectClickedRow(event: MouseEvent<HTMLElement>, { selectUpTo }: SubmissionSelection) {
  const id = findRowSubmission(event.target as Element)
  if (id === undefined) return
  event.preventDefault()
  selectUpTo(id, findRowSubmission(document.activeElement))
  focusRow(id)
}

interface RowProps {
  row: Submission
  href: string
  /** The status filter of the list. */
  status: string | undefined
  isOpen: boolean
  isSelected: boolean
  /** The name of the member who has it. */
  assignee: string
  /** undefined for a viewer, who has nothing to select for. */
  select: ((id: number) => void) | undefined
}

const Row = memo(function Row({ row, href, status, isOpen, isSelected, assignee, select }: RowProps) {
  const isNew = row.status === 'new'
  const outcome = row.outcomes.at(-1)
  const badge = row.status !== 'new' && row.status !== 'read' && row.status !== status
  return (
    <li className="relative border-b border-line [contain-intrinsic-size:auto_7rem] [content-visibility:auto]">
      <a
        id={toRowId(row.id)}
        href={href}
        aria-current={isOpen ? 'true' : undefined}
        className={classNames(
          // Keeps a row visible under the top bar of phones and the bar for selected rows.
          'block scroll-mt-16 scroll-mb-26 py-3 pr-4 -outline-offset-2 lg:scroll-mt-0',
          select ? 'pl-11' : 'pl-5',
          isOpen || isSelected ? 'bg-tint' : 'hover:bg-hover',
        )}
      >
        <span className="flex items-baseline gap-2">
          {isNew && (
            <span className="size-2 shrink-0 self-center rounded-full bg-accent">
              <span className="sr-only">Unread. </span>
            </span>
          )}
          <span className={classNames('min-w-0 flex-1 truncate', isNew ? 'font-semibold' : 'font-medium')}>
            {toSenderName(row)}
          </span>
          <span className="shrink-0 text-xs text-soft">
            <RelativeTime at={row.createdAt} />
          </span>
        </span>
        <span className="line-clamp-2 text-sm break-words text-soft">{toPreviewText(row) || '\u00a0'}</span>
        <span className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-xs text-soft">
          {row.test && <Badge>Test</Badge>}
          {outcome && <Badge tone={STAGE_TONES[outcome.stage]}>{describeStage(outcome)}</Badge>}
          {badge && <Badge tone={STATUS_TONES[row.status]}>{STATUS_LABELS[row.status]}</Badge>}
          {row.files.length > 0 && (
            <Origin label="Files" icon={Paperclip} text={formatNumber(row.files.length)} />
          )}
          <Origin label="Assignee" icon={UserRound} text={assignee} />
          {row.duplicateOf !== null && <Badge tone="warn">Duplicate</Badge>}
          <Origin label="Form" icon={FileText} text={row.formName} />
          <Origin label="Link" icon={Link2} text={toLinkText(row)} hint={row.link?.shortUrl} />
          <Origin
            label="Source"
            icon={row.utmSource || row.utmCampaign ? Megaphone : Globe}
            text={toSourceText(row)}
          />
        </span>
      </a>
      {select && (
        <label
          htmlFor={`select-${row.id}`}
          className="absolute top-0 left-0 grid h-11 w-11 cursor-pointer place-items-center"
        >
          <Checkbox
            id={`select-${row.id}`}
            // The label takes the clicks: a click with Shift on the box itself could not be kept from checking it.
            className="pointer-events-none"
            aria-label={`Select ${toSenderName(row)}`}
            // The key x selects, so that Tab goes from row to row.
            tabIndex={-1}
            checked={isSelected}
            onChange={() => select(row.id)}
          />
        </label>
      )}
    </li>
  )
})

interface OriginProps {
  label: string
  icon: LucideIcon
  text: string
  hint?: string
}

const Origin = ({ label, icon: Icon, text, hint }: OriginProps) =>
  text !== '' && (
    <span className="flex max-w-full min-w-0 items-center gap-1" title={hint}>
      <Icon size={12} aria-hidden className="shrink-0" />
      <span className="sr-only">{label}: </span>
      <span className="truncate">{text}</span>
    </span>
  )

/** Loads the next page when the end of the list is near. */
function LoadMore({ load, busy }: { load: () => void; busy: boolean }) {
  const end = useRef<HTMLDivElement>(null)
  const latestLoad = useRef(load)
  latestLoad.current = load
  useEffect(() => {
    if (!end.current) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && latestLoad.current(), {
      rootMargin: '600px',
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={end} className="p-4 text-center">
      <Button size="small" busy={busy} onClick={load}>
        Show more
      </Button>
    </div>
  )
}

const findScrollContainer = (element: Element) => {
  const pane = element.closest('section')
  return pane && pane.scrollHeight > pane.clientHeight && getComputedStyle(pane).overflowY === 'auto'
    ? pane
    : document.documentElement
}

/** Announces new submissions, with a button to the top when the list is scrolled down. */
function NewSubmissionsNotice({ rows }: { rows: Submission[] }) {
  const anchor = useRef<HTMLDivElement>(null)
  const newest = rows[0]
  const lastNewest = useRef(newest)
  const [arrived, setArrived] = useState(0)
  const [isScrolledDown, setScrolledDown] = useState(false)
  useEffect(() => {
    const previous = lastNewest.current
    lastNewest.current = newest
    if (!previous || !newest || newest.id <= previous.id || newest.createdAt < previous.createdAt) return
    const newRows = rows.findIndex(({ id }) => id === previous.id)
    if (newRows <= 0) return
    setArrived((n) => n + newRows)
    setScrolledDown(anchor.current !== null && findScrollContainer(anchor.current).scrollTop > 60)
  }, [newest, rows])
  return (
    <div ref={anchor} className="sticky top-2 z-10 h-0 text-center">
      <span role="status" className="sr-only">
        {arrived > 0 ? `${formatCount(arrived, 'new submission')}` : ''}
      </span>
      {isScrolledDown && (
        <Button
          variant="primary"
          size="small"
          icon={<ArrowUp size={14} />}
          className="shadow-lg"
          onClick={(event) => {
            findScrollContainer(event.currentTarget).scrollTo({ top: 0, behavior: 'smooth' })
            setScrolledDown(false)
            setArrived(0)
          }}
        >
          {formatNumber(arrived)} new
        </Button>
      )}
    </div>
  )
}

const EMPTY_TEXTS: Record<string, { title: string; detail: string }> = {
  new: { title: 'No unread submissions', detail: 'You have read everything.' },
  archived: { title: 'No archived submissions', detail: 'Submissions that you archive appear here.' },
  spam: {
    title: 'No spam',
    detail:
      'Spam appears here: submissions that a form’s filter has caught, and those that you mark yourself.',
  },
  unconfirmed: {
    title: 'Nothing to confirm',
    detail: 'With double opt-in, submissions wait here until their senders press the button in the email.',
  },
}

function NoSubmissions({ filter, onClear }: { filter: InboxFilter; onClear: () => void }) {
  const workspaceId = String(useWorkspace().id)
  const { status, ...otherFilters } = filter
  const text = status && EMPTY_TEXTS[status]
  if (Object.keys(otherFilters).length > 0) return <NoMatches clear={onClear} />
  if (text)
    return (
      <EmptyState icon={InboxIcon} title={text.title}>
        {text.detail}
      </EmptyState>
    )
  return (
    <EmptyState
      icon={InboxIcon}
      title="Your inbox is empty"
      action={
        <ButtonLink to="/$workspaceId/forms" params={{ workspaceId }} search={{}}>
          Go to forms
        </ButtonLink>
      }
    >
      Submissions of your forms appear here within two seconds, with the link or campaign that brought them.
    </EmptyState>
  )
}
