// Tabs that are links: each has an address that can be opened and shared. In a row, or in a column beside the page.

import { Link, type LinkProps } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { classNames } from './class-names.ts'

export interface TabLink {
  id: string
  label: string
  /** Shown after the label, such as a count. */
  extra?: ReactNode
  link: Pick<LinkProps, 'to' | 'params' | 'search'>
}

/** @param side in a column beside the page; on narrow windows in a row above it */
export function TabLinks({
  label,
  tabs,
  current,
  className,
  side,
}: {
  label: string
  tabs: TabLink[]
  current: string
  className?: string
  side?: boolean
}) {
  const nav = useCurrentInView(current)
  return (
    <nav
      ref={nav}
      aria-label={label}
      className={classNames('min-w-0 overflow-x-auto', side && 'xl:sticky xl:top-6', className)}
    >
      <ul className={classNames('flex gap-1', side && 'xl:grid')}>
        {tabs.map(({ id, label, extra, link }) => (
          <li key={id}>
            <Link
              {...link}
              replace
              resetScroll={false}
              aria-current={id === current ? 'page' : undefined}
              // `current` alone decides which tab is marked, not the router.
              activeOptions={{ exact: true, includeSearch: true }}
              activeProps={{}}
              className={toTabClass(id === current)}
            >
              {label}
              {extra}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Scrolls the row to the current tab, where a narrow window would cut it off. */
function useCurrentInView(current: string) {
  const nav = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each tab has another place
  useEffect(() => {
    const row = nav.current
    const tab = row?.querySelector('[aria-current]')?.getBoundingClientRect()
    if (!row || !tab) return
    const { left, width } = row.getBoundingClientRect()
    row.scrollLeft += tab.left + tab.width / 2 - (left + width / 2)
  }, [current])
  return nav
}

export const toTabClass = (isCurrent: boolean) =>
  classNames(
    'flex h-8 items-center gap-1.5 rounded-lg px-2.5 text-sm font-medium whitespace-nowrap -outline-offset-2',
    isCurrent ? 'bg-tint text-accent' : 'text-soft hover:bg-hover hover:text-ink',
  )
