// The links that match the search, with the filters above and the bar for bulk actions below.

import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Link2 } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { domainsQuery } from '../../../api/domains.ts'
import { useApi, useCanEdit, useWorkspace } from '../../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { EmptyState, NoMatches } from '../../../ui/empty-state.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import type { LinkHandlers } from '../link/use-link-actions.ts'
import { FilterBar } from './filter-bar.tsx'
import { LinkList, type LinkListHandle } from './link-list.tsx'
import type { LinkListItemHandlers } from './link-list-item.tsx'
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
import { useRowExtras } from './use-row-extras.ts'

const BulkBar = lazyPart(() => import('../bulk-edit/bulk-bar.tsx'), 'BulkBar')
const LinkMenu = lazyPart(() => import('../link/link-menu.tsx'), 'LinkMenu')

interface Props {
  query: ReturnType<typeof useLinks>
  handlers: LinkHandlers
  create: () => void
}

export function LinkResults({ query, handlers, create }: Props) {
  const { id } = useWorkspace()
  const canEdit = useCanEdit()
  const filters = pickFilters(useLinkSearch())
  const list = useRef<LinkListHandle>(null)
  const searchField = useRef<HTMLInputElement>(null)
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage, isPlaceholderData } = query
  const links = useMemo(() => (data?.pages ?? []).flatMap((page) => page.data), [data])
  const extras = useRowExtras(data?.pages)
  const selection = useLinkSelection(links)
  const [menu, openMenu] = useState<{ link: LinkResource; button: HTMLElement }>()
  const rowHandlers = useStableHandlers({
    ...handlers,
    open: useOpenLink(String(id)),
    openClicks: useOpenClicks(String(id)),
    select: selection.toggle,
    openMenu: (link, button) => openMenu({ link, button }),
  })
  useLinkShortcuts({ list, searchField, selection, handlers: rowHandlers })
  const total = data?.pages[0]?.total ?? 0
  useFocusAfter(selection.selected.length > 0, () => list.current?.refocus())
  useFocusAfter(links.length > 0, () => focusIfLost(() => searchField.current))
  return (
    <>
      <FilterBar
        filters={filters}
        total={total}
        domains={useDomainNames(links)}
        searchField={searchField}
        onDown={() => list.current?.move(0)}
      />
      {links.length === 0 ? (
        <NoLinks create={create} onClear={() => focusIfLost(() => searchField.current)} />
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
            {...extras}
            selected={selection.ids}
            handlers={rowHandlers}
            canSelect={canEdit}
            loadMore={hasNextPage ? () => void (isFetchingNextPage || fetchNextPage()) : undefined}
          />
        </div>
      )}
      {menu && (
        <LinkMenu
          key={menu.link.id}
          link={menu.link}
          anchor={menu.button}
          params={{ workspaceId: String(id), linkId: String(menu.link.id) }}
          handlers={handlers}
          onClose={() => openMenu(undefined)}
        />
      )}
      {canEdit && selection.selected.length > 0 && (
        <BulkBar selection={selection} loaded={links.length} total={total} />
      )}
    </>
  )
}

/** The server's own domain, the workspace's, and those that loaded links had. */
function useDomainNames(links: LinkResource[]): string[] {
  const { data: own } = useQuery(domainsQuery(useApi()))
  return useMemo(() => {
    const names = [...(own ?? []), ...links].map(({ domain }) => domain)
    return [...new Set([location.host, ...names])].sort()
  }, [own, links])
}

/** Moves the focus when something that may have had it is gone: the bar for bulk actions, or the last row. */
function useFocusAfter(isThere: boolean, focus: () => void) {
  const latest = useRef(focus)
  latest.current = focus
  const was = useRef(isThere)
  useEffect(() => {
    if (was.current && !isThere) latest.current()
    was.current = isThere
  }, [isThere])
}

function useOpenClicks(workspaceId: string) {
  const navigate = useNavigate()
  return (link: LinkResource) =>
    void navigate({
      to: '/$workspaceId/analytics',
      params: { workspaceId },
      search: { linkId: String(link.id), interval: 'all' },
    })
}

/** Opens a link's page, and preloads its code like the router's Link would. */
function useOpenLink(workspaceId: string) {
  const navigate = useNavigate()
  useEffect(() => {
    // Only after the first input, so that the first page is not slowed down.
    const preload = () => {
      stop()
      void import('../link/link-menu.tsx')
      void import('../editor/link-drawer.tsx')
      void import('../detail/link-page.tsx')
    }
    const stop = () => {
      removeEventListener('pointermove', preload)
      removeEventListener('keydown', preload)
    }
    addEventListener('pointermove', preload)
    addEventListener('keydown', preload)
    return stop
  }, [])
  return (link: LinkResource) =>
    void navigate({
      to: '/$workspaceId/links/$linkId',
      params: { workspaceId, linkId: String(link.id) },
      search: {},
    })
}

function NoLinks({ create, onClear }: { create: () => void; onClear: () => void }) {
  const canEdit = useCanEdit()
  const filters = pickFilters(useLinkSearch())
  const setSearch = useSetLinkSearch()
  if (!isFiltered(filters)) {
    return (
      <EmptyState
        icon={Link2}
        title="No active links"
        action={
          <>
            {canEdit && (
              <Button variant="primary" onClick={create}>
                New link
              </Button>
            )}
            <Button onClick={() => setSearch({ archived: 'all' })}>Show archived links</Button>
            {canEdit && (
              <ButtonLink from="/$workspaceId/links" to="/$workspaceId/settings/transfer" search={{}}>
                Import links
              </ButtonLink>
            )}
          </>
        }
      >
        {canEdit ? 'All links in this workspace are archived.' : 'There are no links, or all are archived.'}
      </EmptyState>
    )
  }
  return (
    <NoMatches
      clear={() => {
        setSearch(NO_FILTERS)
        onClear()
      }}
    >
      Search covers short links, destinations and titles.
    </NoMatches>
  )
}

/** The same functions in every render, so that React skips rows that did not change. */
function useStableHandlers(handlers: LinkListItemHandlers): LinkListItemHandlers {
  const latest = useRef(handlers)
  latest.current = handlers
  return useMemo(
    () => ({
      edit: (link) => latest.current.edit(link),
      duplicate: (link) => latest.current.duplicate(link),
      showQr: (link) => latest.current.showQr(link),
      archive: (link) => latest.current.archive(link),
      remove: (link) => latest.current.remove(link),
      select: (id, withShift) => latest.current.select(id, withShift),
      open: (link) => latest.current.open(link),
      openClicks: (link) => latest.current.openClicks(link),
      openMenu: (link, button) => latest.current.openMenu(link, button),
    }),
    [],
  )
}
