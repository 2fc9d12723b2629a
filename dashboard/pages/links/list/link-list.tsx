// The list of links. It draws only the visible rows, and loads the next page before the end is reached.

import { useCallback, useEffect, useImperativeHandle, useRef, useState, useSyncExternalStore } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { classNames } from '../../../ui/class-names.ts'
import { focusIfLost } from '../../../ui/focus.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { LinkListItem, type LinkListItemHandlers, toLinkElementId } from './link-list-item.tsx'
import { toHost } from './use-favicons.ts'
import { useVirtualRows } from './use-virtual-rows.ts'

/** In pixels: three lines of text on phones, two elsewhere. */
const ROW_HEIGHT = { wide: 68, narrow: 92 }
const PREFETCH_ROWS = 20

export interface LinkListHandle {
  /** The link of the row that has, or last had, the focus. */
  current: () => LinkResource | undefined
  /** Moves the focus. @param by rows; negative is up */
  move: (by: number) => void
  /** Focuses the row that had the focus last, where nothing has it now. */
  refocus: () => void
}

interface Props {
  links: LinkResource[]
  total: number
  workspaceId: string
  /** Clicks by day, by the id of the link. */
  sparklines: ReadonlyMap<number, number[]>
  /** By the host of the destination. */
  favicons: ReadonlyMap<string, string>
  selected: ReadonlySet<number>
  handlers: LinkListItemHandlers
  /** Each link has a box to select it for bulk actions. */
  canSelect: boolean
  /** Loads the next page; undefined on the last page. */
  loadMore: (() => void) | undefined
  handle: React.Ref<LinkListHandle>
}

export function LinkList({
  links,
  total,
  workspaceId,
  sparklines,
  favicons,
  selected,
  handlers,
  canSelect,
  loadMore,
  handle,
}: Props) {
  const list = useRef<HTMLUListElement>(null)
  const height = useIsWide() ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow
  const count = loadMore ? links.length + 1 : links.length
  const rows = useVirtualRows({ count, height, list })
  const { from, to } = rows
  useEffect(() => {
    if (loadMore && to >= links.length - PREFETCH_ROWS) loadMore()
  }, [loadMore, to, links.length])
  const { onFocus, ...keys } = useRowFocus(links, rows)
  useImperativeHandle(handle, () => keys)
  return (
    <ul
      ref={list}
      aria-label="Links"
      onFocus={onFocus}
      className="relative"
      style={{ height: count * height }}
    >
      {Array.from({ length: Math.max(0, Math.min(to, count) - from) }, (_, i) => {
        const index = from + i
        const link = links[index]
        return (
          <li
            key={link?.id ?? 'more'}
            data-id={link?.id}
            aria-setsize={total}
            aria-posinset={index + 1}
            className={classNames('absolute inset-x-0 top-0', index > 0 && 'border-t border-line')}
            style={{ height, transform: `translateY(${index * height}px)` }}
          >
            {link ? (
              <LinkListItem
                link={link}
                workspaceId={workspaceId}
                clicks={sparklines.get(link.id)}
                icon={favicons.get(toHost(link.destinationUrl) ?? '')}
                selected={selected.has(link.id)}
                handlers={handlers}
                canSelect={canSelect}
              />
            ) : (
              <Skeleton className="m-4 h-9" />
            )}
          </li>
        )
      })}
    </ul>
  )
}

const WIDE = matchMedia('(min-width: 40rem)')

const subscribeToWidth = (listener: () => void) => {
  WIDE.addEventListener('change', listener)
  return () => WIDE.removeEventListener('change', listener)
}

/** Reports whether the window is wider than a phone's, for numbers that depend on it. Styles use media queries. */
const useIsWide = () => useSyncExternalStore(subscribeToWidth, () => WIDE.matches)

function useRowFocus(links: LinkResource[], rows: ReturnType<typeof useVirtualRows>) {
  const focused = useRef<{ id: number; index: number }>(undefined)
  const pendingFocus = useRef<number>(undefined)
  // Runs after each render: the row may have been drawn only now.
  useEffect(() => {
    if (pendingFocus.current === undefined) return
    const link = document.getElementById(toLinkElementId(pendingFocus.current))
    if (!link) return
    pendingFocus.current = undefined
    link.focus({ preventScroll: true })
  })
  // The focused link was deleted, archived or filtered out: the row in its place gets the focus.
  useEffect(() => {
    const last = focused.current
    if (!last || links.some(({ id }) => id === last.id)) return
    const index = Math.min(last.index, links.length - 1)
    const next = links[index]
    if (!next) return
    focused.current = { id: next.id, index }
    focusIfLost(() => document.getElementById(toLinkElementId(next.id)))
  }, [links])
  const [, redraw] = useState(0)
  const onFocus = useCallback(
    (event: React.FocusEvent) => {
      const id = Number(event.target.closest('li')?.dataset.id)
      const index = links.findIndex((link) => link.id === id)
      if (index >= 0) focused.current = { id, index }
    },
    [links],
  )
  return {
    onFocus,
    current: () => links.find(({ id }) => id === focused.current?.id),
    refocus: () => focusIfLost(() => document.getElementById(toLinkElementId(focused.current?.id ?? 0))),
    move(by: number) {
      const { id, index } = focused.current ?? { id: -1, index: -1 }
      const at = links.findIndex((link) => link.id === id)
      // The focused row was deleted: the row in its place is next.
      const replacement = by > 0 ? index : index - 1
      const next = at >= 0 ? at + by : focused.current ? replacement : rows.firstVisible()
      const to = Math.max(0, Math.min(links.length - 1, next))
      const link = links[to]
      if (!link) return
      focused.current = { id: link.id, index: to }
      pendingFocus.current = link.id
      rows.scrollTo(to)
      redraw((n) => n + 1)
    },
  }
}
