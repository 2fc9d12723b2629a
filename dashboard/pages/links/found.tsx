// The links that fit, with what narrows them above and what can be done to the chosen ones below.

import { useNavigate } from '@tanstack/react-router'
import { Link2, SearchX } from 'lucide-react'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import type { LinkResource } from '../../../server/features/links/schema.ts'
import { useWorkspace } from '../../shell/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/states.tsx'
import { useLeavingLinks } from './actions.ts'
import { FilterBar } from './filters.tsx'
import { useLinkKeys } from './keys.ts'
import { List, type ListHandle } from './list.tsx'
import type { LinkActs, RowActs } from './row.tsx'
import {
  filtersOf,
  isFiltered,
  NO_FILTERS,
  useLinkSearch,
  type useLinks,
  useSetLinkSearch,
} from './search.ts'
import { useSelection } from './selection.ts'

const BulkBar = lazy(() => import('./bulk-bar.tsx').then(({ BulkBar }) => ({ default: BulkBar })))
const LinkMenu = lazy(() => import('./row-menu.tsx').then(({ LinkMenu }) => ({ default: LinkMenu })))

interface Props {
  query: ReturnType<typeof useLinks>
  acts: LinkActs
  create: () => void
}

export function Found({ query, acts, create }: Props) {
  const { id } = useWorkspace()
  const filters = filtersOf(useLinkSearch())
  const leaving = useLeavingLinks()
  const list = useRef<ListHandle>(null)
  const searchField = useRef<HTMLInputElement>(null)
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage, isPlaceholderData } = query
  const links = useMemo(
    () => (data?.pages ?? []).flatMap((page) => page.data).filter((link) => !leaving.has(link.id)),
    [data, leaving],
  )
  const domains = useMemo(() => [...new Set(links.map(({ domain }) => domain))].sort(), [links])
  const selection = useSelection(links)
  const [menu, openMenu] = useState<{ link: LinkResource; button: HTMLElement }>()
  const open = useOpenLink(String(id))
  const rowActs = useSteadyActs({
    ...acts,
    open,
    select: selection.toggle,
    openMenu: (link, button) => openMenu({ link, button }),
  })
  useLinkKeys({ list, searchField, selection, acts: rowActs, create })
  const total = Math.max(0, (data?.pages[0]?.total ?? 0) - leaving.size)
  return (
    <>
      <FilterBar
        filters={filters}
        total={total}
        domains={domains}
        searchField={searchField}
        onDown={() => list.current?.move(0)}
      />
      {links.length === 0 ? (
        <NothingFound create={create} />
      ) : (
        <div
          aria-busy={isPlaceholderData}
          className="overflow-clip rounded-2xl border border-line bg-card aria-busy:opacity-60"
        >
          <List
            handle={list}
            links={links}
            total={total}
            workspaceId={String(id)}
            selected={selection.ids}
            acts={rowActs}
            more={hasNextPage ? () => void (isFetchingNextPage || fetchNextPage()) : undefined}
          />
        </div>
      )}
      <Suspense>
        {menu && (
          <LinkMenu
            key={menu.link.id}
            link={menu.link}
            anchor={menu.button}
            params={{ workspaceId: String(id), linkId: String(menu.link.id) }}
            acts={acts}
            onClose={() => openMenu(undefined)}
          />
        )}
        {selection.chosen.length > 0 && <BulkBar selection={selection} shown={links.length} total={total} />}
      </Suspense>
    </>
  )
}

/** What the router's Link would do: the code of what comes next is there before it is asked for. */
function useOpenLink(workspaceId: string) {
  const navigate = useNavigate()
  useEffect(() => {
    // The first sight is not kept waiting: only when somebody stirs.
    const load = () => {
      stop()
      void import('./row-menu.tsx')
      void import('./drawer.tsx')
      void import('./link.tsx')
    }
    const stop = () => {
      removeEventListener('pointermove', load)
      removeEventListener('keydown', load)
    }
    addEventListener('pointermove', load)
    addEventListener('keydown', load)
    return stop
  }, [])
  return (link: LinkResource) =>
    void navigate({
      to: '/$workspaceId/links/$linkId',
      params: { workspaceId, linkId: String(link.id) },
      search: {},
    })
}

function NothingFound({ create }: { create: () => void }) {
  const filters = filtersOf(useLinkSearch())
  const set = useSetLinkSearch()
  if (!isFiltered(filters)) {
    return (
      <Empty
        icon={<Link2 size={32} />}
        title="No active links"
        action={
          <>
            <Button look="primary" onClick={create}>
              New link
            </Button>
            <Button onClick={() => set({ archived: 'all' })}>Show archived links</Button>
          </>
        }
      >
        All links of this workspace are archived.
      </Empty>
    )
  }
  return (
    <Empty
      icon={<SearchX size={32} />}
      title="No link fits"
      action={<Button onClick={() => set(NO_FILTERS)}>Clear filters</Button>}
    >
      Search looks at short links, destinations and titles.
    </Empty>
  )
}

/** The same functions at every drawing, so that rows that did not change are not drawn again. */
function useSteadyActs(acts: RowActs): RowActs {
  const now = useRef(acts)
  now.current = acts
  return useMemo(
    () => ({
      edit: (link) => now.current.edit(link),
      duplicate: (link) => now.current.duplicate(link),
      showQr: (link) => now.current.showQr(link),
      archive: (link) => now.current.archive(link),
      remove: (link) => now.current.remove(link),
      select: (id, withShift) => now.current.select(id, withShift),
      open: (link) => now.current.open(link),
      openMenu: (link, button) => now.current.openMenu(link, button),
    }),
    [],
  )
}
