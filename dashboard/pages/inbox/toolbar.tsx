// Above the inbox: which submissions are shown, and what is done with all of them.

import { useQuery } from '@tanstack/react-query'
import { Download, Ellipsis, SlidersHorizontal, UserX } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { countQuery, type InboxFilter } from '../../api/submissions.ts'
import { useApi } from '../../shell/workspace.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { formatNumber, formatShort } from '../../ui/format.ts'
import { join } from '../../ui/join.ts'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { TabLinks } from '../../ui/tab-links.tsx'
import { useTyped } from '../../ui/use-typed.ts'
import { SEARCH_ID } from './use-keys.ts'

const Filters = lazy(() => import('./filters.tsx').then(({ Filters }) => ({ default: Filters })))
const ActiveFilters = lazy(() =>
  import('./filters.tsx').then(({ ActiveFilters }) => ({ default: ActiveFilters })),
)
const Export = lazy(() => import('./export.tsx'))
const Erase = lazy(() => import('./erase.tsx'))

const TABS = [
  { id: '', label: 'Inbox' },
  { id: 'new', label: 'Unread' },
  { id: 'archived', label: 'Archived' },
  { id: 'spam', label: 'Spam' },
  { id: 'all', label: 'All' },
]
const NARROWED = ['formKey', 'linkId', 'country', 'utmSource', 'start', 'end'] as const

interface Props {
  filter: InboxFilter
  total: number
  /** One is open, and there is room for one thing only. */
  isHidden: boolean
  onChange: (filter: InboxFilter) => void
}

export function Toolbar({ filter, total, isHidden, onChange }: Props) {
  const [isOpen, setOpen] = useState(false)
  const narrowed = NARROWED.filter((name) => filter[name]).length
  return (
    <header className={join('border-b border-line px-4 pt-5 pb-3 sm:px-6', isHidden && 'max-lg:hidden')}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-3">
        <h1 className="text-2xl font-semibold tracking-tight">Inbox</h1>
        <Statuses filter={filter} />
        <p role="status" className="text-sm text-soft tabular-nums">
          {formatNumber(total)}{' '}
          <span className="max-sm:sr-only">{total === 1 ? 'submission' : 'submissions'}</span>
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
            {narrowed > 0 && <span className="text-accent tabular-nums">{narrowed}</span>}
          </Button>
          <More filter={filter} />
        </div>
      </div>
      <Suspense>
        <div id="inbox-filters" hidden={!isOpen}>
          {isOpen && <Filters filter={filter} onChange={onChange} />}
        </div>
        {!isOpen && narrowed > 0 && <ActiveFilters filter={filter} onChange={onChange} />}
      </Suspense>
    </header>
  )
}

function Statuses({ filter }: { filter: InboxFilter }) {
  const api = useApi()
  const { status: _, ...rest } = filter
  const unread = useQuery(
    countQuery(api, { ...(filter.formKey ? { formKey: filter.formKey } : {}), status: 'new' }),
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

/** Asks when one has stopped typing. */
const SEARCH_MS = 200

function InboxSearch({ filter, onChange }: Pick<Props, 'filter' | 'onChange'>) {
  const ask = (wanted: string) => {
    const { search: _, ...rest } = filter
    onChange(wanted === '' ? rest : { ...rest, search: wanted })
  }
  const [text, setText] = useTyped(filter.search ?? '', ask, { afterMs: SEARCH_MS, clean: asTyped })
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

/** A blank at the end may be wanted: it is looked for as it stands. */
const asTyped = (text: string) => text

function More({ filter }: { filter: InboxFilter }) {
  const [window_, open] = useState<'export' | 'erase' | null>(null)
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
          Export as a file
        </MenuItem>
        <MenuItem icon={<UserX size={15} />} danger onSelect={() => open('erase')}>
          Erase a person
        </MenuItem>
      </Menu>
      <Suspense>
        {window_ === 'export' && <Export filter={filter} onClose={() => open(null)} />}
        {window_ === 'erase' && <Erase onClose={() => open(null)} />}
      </Suspense>
    </>
  )
}
