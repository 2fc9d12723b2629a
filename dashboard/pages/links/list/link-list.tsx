// The list itself: only what can be seen is drawn, and the next page is asked for before its end is reached.

import { useCallback, useEffect, useImperativeHandle, useRef, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { classNames } from '../../../ui/class-names.ts'
import { Skeleton } from '../../../ui/states.tsx'
import { LinkListItem, type LinkListItemHandlers, toLinkElementId } from './link-list-item.tsx'
import { useIsWide } from './use-is-wide.ts'
import { useVirtualRows } from './use-virtual-rows.ts'

/** Pixels; three lines on phones, two elsewhere. */
const ROW_HEIGHT = { wide: 68, narrow: 92 }
const PREFETCH_ROWS = 20

export interface LinkListHandle {
  /** The row that has the keyboard, or had it last. */
  current: () => LinkResource | undefined
  /** @param by -1 is up */
  move: (by: number) => void
}

interface Props {
  links: LinkResource[]
  total: number
  workspaceId: string
  selected: ReadonlySet<number>
  acts: LinkListItemHandlers
  /** Asks for the next page, where there is one. */
  more: (() => void) | undefined
  handle: React.Ref<LinkListHandle>
}

export function LinkList({ links, total, workspaceId, selected, acts, more, handle }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const height = useIsWide() ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow
  const count = more ? links.length + 1 : links.length
  const rows = useVirtualRows({ count, height, list })
  const { from, to } = rows
  useEffect(() => {
    if (more && to >= links.length - PREFETCH_ROWS) more()
  }, [more, to, links.length])
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
                selected={selected.has(link.id)}
                acts={acts}
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

function useRowFocus(links: LinkResource[], rows: ReturnType<typeof useVirtualRows>) {
  const current = useRef<{ id: number; index: number }>(undefined)
  const wanted = useRef<number>(undefined)
  // After each drawing: a row that was far away has only now come into the page.
  useEffect(() => {
    if (wanted.current === undefined) return
    const link = document.getElementById(toLinkElementId(wanted.current))
    if (!link) return
    wanted.current = undefined
    link.focus({ preventScroll: true })
  })
  const [, redraw] = useState(0)
  const onFocus = useCallback(
    (event: React.FocusEvent) => {
      const id = Number(event.target.closest('li')?.dataset.id)
      const index = links.findIndex((link) => link.id === id)
      if (index >= 0) current.current = { id, index }
    },
    [links],
  )
  return {
    onFocus,
    current: () => links.find(({ id }) => id === current.current?.id),
    move(by: number) {
      const { id, index } = current.current ?? { id: -1, index: -1 }
      const at = links.findIndex((link) => link.id === id)
      // Where the row itself is gone, the one that took its place is next.
      const gone = by > 0 ? index : index - 1
      const next = at >= 0 ? at + by : current.current ? gone : rows.firstSeen()
      const to = Math.max(0, Math.min(links.length - 1, next))
      const link = links[to]
      if (!link) return
      current.current = { id: link.id, index: to }
      wanted.current = link.id
      rows.scrollTo(to)
      redraw((n) => n + 1)
    },
  }
}
