// The links that fit, with what narrows them above and what can be done to the chosen ones below.

import { useNavigate } from '@tanstack/react-router'
import { Link2, SearchX } from 'lucide-react'
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { useWorkspace } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { EmptyState } from '../../../ui/states.tsx'
import { usePendingLinkDeletions } from '../link/use-link-actions.ts'
import { FilterBar } from './filter-bar.tsx'
import { LinkList, type LinkListHandle } from './link-list.tsx'
import type { LinkHandlers, LinkListItemHandlers } from './link-list-item.tsx'
import {
  isFiltered,
  NO_FILTERS,
  pickFilters,
  useLinkSearch,
  type useLinks,
  useSetLinkSearch,
} from './use-link-search.ts'
import { useLinkSelection } from './use-link-selection.ts'
import { useLinkShortcuts } from './use-link-shortcuts.ts'

const BulkBar = lazy(() => import('./bulk-bar.tsx').then(({ BulkBar }) => ({ default: BulkBar })))
const LinkMenu = lazy(() => import('../link/link-menu.tsx').then(({ LinkMenu }) => ({ default: LinkMenu })))

interface Props {
  query: ReturnType<typeof useLinks>
  acts: LinkHandlers
  create: () => void
}

export function LinkResults({ query, acts, create }: Props) {
  const { id } = useWorkspace()
  const filters = pickFilters(useLinkSearch())
  const leaving = usePendingLinkDeletions()
  const list = useRef<LinkListHandle>(null)
  const searchField = useRef<HTMLInputElement>(null)
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage, isPlaceholderData } = query
  const links = useMemo(
    () => (data?.pages ?? []).flatMap((page) => page.data).filter((link) => !leaving.has(link.id)),
    [data, leaving],
  )
  const domains = useMemo(() => [...new Set(links.map(({ domain }) => domain))].sort(), [links])
  const selection = useLinkSelection(links)
  const [menu, openMenu] = useState<{ link: LinkResource; button: HTMLElement }>()
  const open = useOpenLink(String(id))
  const rowActs = useStableHandlers({
    ...acts,
    open,
    select: selection.toggle,
    openMenu: (link, button) => openMenu({ link, button }),
  })
  useLinkShortcuts({ list, searchField, selection, acts: rowActs, create })
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
          <LinkList
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
      void import('../link/link-menu.tsx')
      void import('../editor/link-drawer.tsx')
      void import('../detail/link-page.tsx')
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
  const filters = pickFilters(useLinkSearch())
  const set = useSetLinkSearch()
  if (!isFiltered(filters)) {
    return (
      <EmptyState
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
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={<SearchX size={32} />}
      title="No link fits"
      action={<Button onClick={() => set(NO_FILTERS)}>Clear filters</Button>}
    >
      Search looks at short links, destinations and titles.
    </EmptyState>
  )
}

/** The same functions at every drawing, so that rows that did not change are not drawn again. */
function useStableHandlers(acts: LinkListItemHandlers): LinkListItemHandlers {
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
