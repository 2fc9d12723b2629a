// The toolbar of the inbox: status tabs, search, filters, and the menu with export and erasure.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download, Ellipsis, ReceiptText, SlidersHorizontal, UserRoundSearch, UserX } from 'lucide-react'
import { useState } from 'react'
import { type InboxFilter, submissionCountQuery } from '../../../api/submissions.ts'
import { useApi, useCanEdit, useWorkspace } from '../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatNumber, formatShort } from '../../../ui/format.ts'
import { SearchField } from '../../../ui/forms/search-field.tsx'
import { useDebouncedText } from '../../../ui/forms/use-debounced-text.ts'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../../ui/overlays/menu.tsx'
import { TabLinks } from '../../../ui/tab-links.tsx'
import { SEARCH_ID } from '../state/element-ids.ts'

const InboxFilters = lazyPart(() => import('./inbox-filters.tsx'), 'InboxFilters')
const ActiveFilters = lazyPart(() => import('./inbox-filters.tsx'), 'ActiveFilters')
const ExportDialog = lazyPart(() => import('../dialogs/export-dialog.tsx'), 'default')
const ErasePersonDialog = lazyPart(() => import('../dialogs/erase-person-dialog.tsx'), 'default')
const ExportPersonDialog = lazyPart(() => import('../dialogs/export-person-dialog.tsx'), 'default')

const TABS = [
  { id: '', label: 'Inbox' },
  { id: 'new', label: 'Unread' },
  { id: 'archived', label: 'Archived' },
  { id: 'spam', label: 'Spam' },
  { id: 'unconfirmed', label: 'Not confirmed' },
  { id: 'all', label: 'All' },
]
const FILTER_NAMES = [
  'formKey',
  'linkId',
  'country',
  'utmSource',
  'stage',
  'assignee',
  'start',
  'end',
] as const

interface Props {
  filter: InboxFilter
  /** undefined while the list loads. */
  total: number | undefined
  /** A submission is open, so that phones hide the toolbar. */
  isHidden: boolean
  onChange: (filter: InboxFilter) => void
}

export function InboxToolbar({ filter, total, isHidden, onChange }: Props) {
  const [isOpen, setOpen] = useState(false)
  const filterCount = FILTER_NAMES.filter((name) => filter[name]).length
  return (
    <header
      className={classNames('border-b border-line px-4 pt-5 pb-3 sm:px-6', isHidden && 'max-lg:hidden')}
    >
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <h1 className="text-2xl font-semibold tracking-tight">Inbox</h1>
        <StatusTabs filter={filter} />
        <p role="status" className="text-sm text-soft tabular-nums">
          {total !== undefined && (
            <>
              {formatNumber(total)}{' '}
              <span className="max-sm:sr-only">{total === 1 ? 'submission' : 'submissions'}</span>
            </>
          )}
        </p>
        <div className="flex min-w-0 flex-1 basis-60 items-center justify-end gap-2">
          <InboxSearch filter={filter} onChange={onChange} />
          <Button
            icon={<SlidersHorizontal size={15} />}
            aria-expanded={isOpen}
            aria-controls="inbox-filters"
            onClick={() => setOpen(!isOpen)}
          >
            <span className="max-sm:sr-only">Filters</span>
            {filterCount > 0 && <span className="text-accent tabular-nums">{filterCount}</span>}
          </Button>
          <MoreMenu filter={filter} />
        </div>
      </div>
      <div id="inbox-filters" hidden={!isOpen}>
        {isOpen && <InboxFilters filter={filter} onChange={onChange} />}
      </div>
      {!isOpen && filterCount > 0 && <ActiveFilters filter={filter} onChange={onChange} />}
    </header>
  )
}

function StatusTabs({ filter }: { filter: InboxFilter }) {
  const api = useApi()
  const { status: _, ...rest } = filter
  const unread = useQuery(
    submissionCountQuery(api, { ...(filter.formKey ? { formKey: filter.formKey } : {}), status: 'new' }),
  )
  const to = '/$workspaceId/inbox' as const
  const params = { workspaceId: String(api.workspaceId) }
  return (
    <TabLinks
      label="Status"
      className="max-sm:order-last max-sm:basis-full"
      current={filter.status ?? ''}
      tabs={TABS.map(({ id, label }) => ({
        id,
        label,
        extra:
          id === 'new' && unread.data ? (
            <span className="rounded-md bg-accent px-1.5 text-xs leading-5 text-on-accent tabular-nums">
              {formatShort(unread.data)}
            </span>
          ) : undefined,
        link: { to, params, search: id === '' ? rest : { ...rest, status: id } },
      }))}
    />
  )
}

const TYPING_MS = 200

function InboxSearch({ filter, onChange }: Pick<Props, 'filter' | 'onChange'>) {
  const apply = (next: string) => {
    const { search: _, ...rest } = filter
    onChange(next === '' ? rest : { ...rest, search: next })
  }
  const [text, setText] = useDebouncedText(filter.search ?? '', apply, {
    afterMs: TYPING_MS,
    clean: keepText,
  })
  return (
    <SearchField
      id={SEARCH_ID}
      label="Search submissions"
      placeholder="Search"
      className="w-full sm:max-w-xs"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        setText('')
        event.currentTarget.blur()
      }}
    />
  )
}

/** A space at the end can be part of the search, so that the text is not trimmed. */
const keepText = (text: string) => text

function MoreMenu({ filter }: { filter: InboxFilter }) {
  const [dialog, open] = useState<'export' | 'export person' | 'erase' | null>(null)
  const canEdit = useCanEdit()
  const workspaceId = String(useWorkspace().id)
  return (
    <>
      <Menu
        trigger={
          <IconButton label="More">
            <Ellipsis size={18} />
          </IconButton>
        }
      >
        <MenuItem icon={<Download size={15} />} onSelect={() => open('export')}>
          Export submissions
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={<UserRoundSearch size={15} />} onSelect={() => open('export person')}>
          Export personal data
        </MenuItem>
        {canEdit && (
          <MenuItem icon={<UserX size={15} />} danger onSelect={() => open('erase')}>
            Erase personal data
          </MenuItem>
        )}
        <MenuItem
          icon={<ReceiptText size={15} />}
          render={<Link to="/$workspaceId/settings" params={{ workspaceId }} search={{ tab: 'erasures' }} />}
        >
          Erasures
        </MenuItem>
      </Menu>
      {dialog === 'export' && <ExportDialog filter={filter} onClose={() => open(null)} />}
      {dialog === 'export person' && <ExportPersonDialog onClose={() => open(null)} />}
      {dialog === 'erase' && <ErasePersonDialog onClose={() => open(null)} />}
    </>
  )
}
