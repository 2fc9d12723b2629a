// The list: who wrote, how it begins, where it came from. What comes in stands at the top and moves nothing that is read.

import { ArrowUp, Inbox as InboxIcon, SearchX } from 'lucide-react'
import { type MouseEvent, memo, useDeferredValue, useEffect, useRef, useState } from 'react'
import { queryString } from '../../../api/client.ts'
import type { InboxFilter, Submission } from '../../../api/submissions.ts'
import { useWorkspace } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatCount } from '../../../ui/format.ts'
import { RelativeTime } from '../../../ui/relative-time.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../../ui/states.tsx'
import { STATUS_LABELS, toPreviewText, toSenderName, toSourceText } from '../state/display-text.ts'
import type { Inbox } from '../state/use-inbox.ts'
import { READER_ID, toRowId } from '../state/use-inbox-actions.ts'

interface Props {
  inbox: Inbox
  filter: InboxFilter
  open: string | undefined
  show: (id: number) => void
  onClear: () => void
}

export function SubmissionList({ inbox, filter, open, show, onClear }: Props) {
  const { list } = inbox
  // Hundreds of rows come in pieces, so that nothing stands still when the search is cleared.
  const rows = useDeferredValue(inbox.rows)
  const workspaceId = String(useWorkspace().id)
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
  if (rows.length === 0 && !list.hasNextPage) return <NoSubmissions filter={filter} onClear={onClear} />
  return (
    <>
      <NewSubmissionsNotice rows={rows} />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: they are links, which keys press too */}
      <ul onClick={(event) => openClickedRow(event, open, show)}>
        {rows.map((row) => (
          <Row
            key={row.id}
            row={row}
            href={`/app/${workspaceId}/inbox${queryString({ ...filter, open: row.id })}`}
            status={filter.status}
            isOpen={String(row.id) === open}
          />
        ))}
      </ul>
      {list.hasNextPage && <LoadMore more={() => void list.fetchNextPage()} busy={list.isFetchingNextPage} />}
    </>
  )
}

/** Plain links: the router's own look at the address each for themselves, which is too much for hundreds. */
function openClickedRow(
  event: MouseEvent<HTMLElement>,
  open: string | undefined,
  show: (id: number) => void,
) {
  const id = (event.target as Element).closest('a')?.id.replace(/^submission-/, '')
  if (!id || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  // Once more: into what is open.
  if (id === open) document.getElementById(READER_ID)?.focus()
  else show(Number(id))
}

interface RowProps {
  row: Submission
  href: string
  /** Of the list. */
  status: string | undefined
  isOpen: boolean
}

const Row = memo(function Row({ row, href, status, isOpen }: RowProps) {
  const isNew = row.status === 'new'
  const source = toSourceText(row)
  const badge = row.status !== 'new' && row.status !== 'read' && row.status !== status
  return (
    <li className="border-b border-line [contain-intrinsic-size:auto_6rem] [content-visibility:auto]">
      <a
        id={toRowId(row.id)}
        href={href}
        aria-current={isOpen ? 'true' : undefined}
        className={classNames(
          'relative block px-4 py-3 -outline-offset-2 sm:px-5',
          isOpen ? 'bg-tint' : 'hover:bg-hover',
        )}
      >
        {isNew && (
          <span className="absolute top-5 left-1.5 size-2 rounded-full bg-accent sm:left-2">
            <span className="sr-only">Unread. </span>
          </span>
        )}
        <span className="flex items-baseline gap-3">
          <span className={classNames('min-w-0 flex-1 truncate', isNew ? 'font-semibold' : 'font-medium')}>
            {toSenderName(row)}
          </span>
          <span className="shrink-0 text-xs text-soft">
            <RelativeTime at={row.createdAt} />
          </span>
        </span>
        <span className="line-clamp-2 text-sm break-words text-soft">{toPreviewText(row) || '\u00a0'}</span>
        {(source || badge || row.duplicateOf !== null) && (
          <span className="mt-1 flex items-center gap-1.5 text-xs text-soft">
            {badge && (
              <Badge tone={row.status === 'spam' ? 'bad' : 'neutral'}>{STATUS_LABELS[row.status]}</Badge>
            )}
            {row.duplicateOf !== null && <Badge tone="warn">Duplicate</Badge>}
            <span className="truncate">{source}</span>
          </span>
        )}
      </a>
    </li>
  )
})

/** Comes into sight when the end is near. */
function LoadMore({ more, busy }: { more: () => void; busy: boolean }) {
  const end = useRef<HTMLDivElement>(null)
  const now = useRef(more)
  now.current = more
  useEffect(() => {
    if (!end.current) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && now.current(), {
      rootMargin: '600px',
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={end} className="p-4 text-center">
      <Button size="small" busy={busy} onClick={more}>
        Show more
      </Button>
    </div>
  )
}

const findScroller = (element: Element) => {
  const pane = element.closest('section')
  return pane && pane.scrollHeight > pane.clientHeight && getComputedStyle(pane).overflowY === 'auto'
    ? pane
    : document.documentElement
}

/** Says that something came in, and leads to it when one is further down. */
function NewSubmissionsNotice({ rows }: { rows: Submission[] }) {
  const place = useRef<HTMLDivElement>(null)
  const newest = rows[0]
  const seen = useRef(newest)
  const [arrived, setArrived] = useState(0)
  const [isBelow, setBelow] = useState(false)
  useEffect(() => {
    const before = seen.current
    seen.current = newest
    if (!before || !newest || newest.id <= before.id || newest.createdAt < before.createdAt) return
    const fresh = rows.findIndex(({ id }) => id === before.id)
    if (fresh <= 0) return
    setArrived((n) => n + fresh)
    setBelow(place.current !== null && findScroller(place.current).scrollTop > 60)
  }, [newest, rows])
  return (
    <div ref={place} className="sticky top-2 z-10 h-0 text-center">
      <span role="status" className="sr-only">
        {arrived > 0 ? `${formatCount(arrived, 'new submission')}` : ''}
      </span>
      {isBelow && (
        <Button
          look="primary"
          size="small"
          icon={<ArrowUp size={14} />}
          className="shadow-lg"
          onClick={(event) => {
            findScroller(event.currentTarget).scrollTo({ top: 0, behavior: 'smooth' })
            setBelow(false)
            setArrived(0)
          }}
        >
          {formatCount(arrived, 'new one')}
        </Button>
      )}
    </div>
  )
}

function NoSubmissions({ filter, onClear }: { filter: InboxFilter; onClear: () => void }) {
  const workspaceId = String(useWorkspace().id)
  const { status, ...narrowed } = filter
  if (Object.keys(narrowed).length > 0)
    return (
      <div className="p-4">
        <EmptyState
          icon={<SearchX size={28} />}
          title="Nothing passes these filters"
          action={<Button onClick={onClear}>Show everything</Button>}
        />
      </div>
    )
  const words: Record<string, string> = {
    new: 'All is read.',
    archived: 'What you archive is kept here.',
    spam: 'Nothing was marked as spam.',
  }
  if (status && words[status])
    return (
      <div className="p-4">
        <EmptyState icon={<InboxIcon size={28} />} title="Nothing here">
          {words[status]}
        </EmptyState>
      </div>
    )
  return (
    <div className="p-4">
      <EmptyState
        icon={<InboxIcon size={28} />}
        title="Nothing to read"
        action={
          <ButtonLink to="/$workspaceId/forms" params={{ workspaceId }} search={{}}>
            Go to your forms
          </ButtonLink>
        }
      >
        What people send by your forms appears here within two seconds, with what brought them.
      </EmptyState>
    </div>
  )
}
