// The inbox: the list of all forms' submissions beside the open submission. Phones show one of the two.

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import type { InboxFilter, Submission } from '../../api/submissions.ts'
import { unreadCountQuery } from '../../api/unread-count.ts'
import { useApi, useCanEdit, useWorkspace } from '../../shell/use-workspace.ts'
import { classNames } from '../../ui/class-names.ts'
import { formatUnread } from '../../ui/format.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { InboxToolbar } from './list/inbox-toolbar.tsx'
import { SubmissionList } from './list/submission-list.tsx'
import { SubmissionReader } from './reader/submission-reader.tsx'
import { useFirstShown } from './state/use-first-shown.ts'
import { useInbox } from './state/use-inbox.ts'
import { useInboxActions } from './state/use-inbox-actions.ts'
import { useInboxShortcuts } from './state/use-inbox-shortcuts.ts'
import { useSubmissionSelection } from './state/use-submission-selection.ts'

const BulkBar = lazyPart(() => import('./list/submission-bulk-bar.tsx'), 'SubmissionBulkBar')

const NO_ROWS: Submission[] = []

const FILTERS = [
  'formKey',
  'status',
  'search',
  'linkId',
  'country',
  'utmSource',
  'stage',
  'assignee',
  'start',
  'end',
] as const

/** The filter and the open submission, which the address has. */
function useInboxAddress(workspaceId: string) {
  const navigate = useNavigate()
  const search = useSearch({ from: '/$workspaceId/inbox' })
  const key = JSON.stringify(FILTERS.map((name) => search[name]))
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` has all filters; opening a submission must not change the filter object
  const filter = useMemo<InboxFilter>(
    () => Object.fromEntries(FILTERS.flatMap((name) => (search[name] ? [[name, search[name]]] : []))),
    [key],
  )
  const setAddress = (next: InboxFilter, open: string | undefined, replace = true) =>
    void navigate({
      to: '/$workspaceId/inbox',
      params: { workspaceId },
      search: { ...next, open },
      replace,
      resetScroll: false,
    })
  return { filter, key, open: search.open, setAddress }
}

/** The submission in the reader: the open one, else the first one of the list. */
function useShownSubmission(address: ReturnType<typeof useInboxAddress>, rows: Submission[]) {
  const { filter, key, open, setAddress } = address
  const saveScrollPosition = useListScrollPosition(open !== undefined)
  const first = useFirstShown({ rows, open, key })
  const show = (id: number | undefined) => {
    if (id === undefined) first.dismiss()
    if (open === undefined) saveScrollPosition()
    // The back button leads to the list, not to the submission that was open before.
    setAddress(filter, id === undefined ? undefined : String(id), open !== undefined)
  }
  return { shown: open ?? first.shown, show }
}

export function InboxPage() {
  const address = useInboxAddress(String(useWorkspace().id))
  const { filter, key, open, setAddress } = address
  const inbox = useInbox(filter)
  const rows = inbox.rows ?? NO_ROWS
  const selection = useSubmissionSelection(rows, key)
  const { shown, show } = useShownSubmission(address, rows)
  // The list says why it is empty, and needs no reader beside it.
  const isBlank = inbox.isEmpty && shown === undefined
  const actions = useInboxActions({ rows, total: inbox.total, shown, opened: open, show, filter, selection })
  useInboxShortcuts({ actions, selection, rows, open: shown })
  useTitle()
  return (
    <main id="main" tabIndex={-1} className={useMainClassNames()}>
      {open !== undefined && <h1 className="sr-only lg:hidden">Inbox</h1>}
      <InboxToolbar
        filter={filter}
        total={inbox.rows && inbox.total}
        isHidden={open !== undefined}
        onChange={(next) => setAddress(next, open)}
      />
      <div
        className={classNames(
          'min-h-0 flex-1',
          !isBlank && 'lg:grid lg:grid-cols-[minmax(17rem,23rem)_minmax(0,1fr)] lg:divide-x lg:divide-line',
        )}
      >
        <section
          aria-label="Submissions"
          className={classNames(
            'min-h-0 lg:overflow-y-auto lg:overscroll-contain',
            open !== undefined && 'max-lg:hidden',
          )}
        >
          <SubmissionList
            inbox={inbox}
            filter={filter}
            open={shown}
            show={show}
            selection={selection}
            onClear={() => setAddress({}, undefined)}
          />
          {selection.states.size > 0 && (
            <BulkBar selection={selection} inbox={inbox} filter={filter} actions={actions} />
          )}
        </section>
        {!isBlank && (
          <section
            aria-label="Open submission"
            className={classNames(
              'min-h-0 lg:overflow-y-auto lg:overscroll-contain',
              open === undefined && 'max-lg:hidden',
            )}
            {...(open === undefined && shown !== undefined && toLookHandlers(() => show(Number(shown))))}
          >
            <SubmissionReader
              open={shown}
              rows={inbox.rows}
              actions={actions}
              isShownOnly={open === undefined}
            />
          </section>
        )}
      </div>
    </main>
  )
}

/** Actions in the reader, done by the person who looks at the submission. */
const toLookHandlers = (look: () => void) => ({
  onPointerDownCapture: look,
  onKeyDownCapture: look,
  onWheelCapture: look,
  onFocusCapture: look,
})

/** The title has the number of unread submissions, for a tab in the background. */
function useTitle() {
  const { data: unread = 0 } = useQuery(unreadCountQuery(useApi()))
  useEffect(() => {
    document.title = `${unread > 0 ? `(${formatUnread(unread)}) ` : ''}Inbox · Towpath`
  }, [unread])
}

/** Fills the window below the line that a viewer sees above each page, which is 2.25rem high. */
const useMainClassNames = () =>
  classNames('flex flex-col outline-none', useCanEdit() ? 'lg:h-dvh' : 'lg:h-[calc(100dvh-2.25rem)]')

/**
 * With one column, list and reader scroll the same page: a submission opens at its top, and the list keeps its
 * position.
 */
function useListScrollPosition(isOpen: boolean) {
  const position = useRef(0)
  useLayoutEffect(() => {
    if (matchMedia('(width < 64rem)').matches) scrollTo(0, isOpen ? 0 : position.current)
  }, [isOpen])
  return () => {
    position.current = scrollY
  }
}
