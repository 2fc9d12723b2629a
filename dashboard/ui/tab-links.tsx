// Tabs that are links: each has an address that can be opened and shared.

import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

export interface TabLink {
  id: string
  label: string
  /** Shown after the label, such as a count. */
  extra?: ReactNode
  link: Pick<LinkProps, 'to' | 'params' | 'search'>
}

export function TabLinks({
  label,
  tabs,
  current,
  className,
}: {
  label: string
  tabs: TabLink[]
  current: string
  className?: string
}) {
  return (
    <nav aria-label={label} className={classNames('overflow-x-auto', className)}>
      <ul className="flex gap-1">
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
              className={classNames(
                'flex h-8 items-center gap-1.5 rounded-lg px-2.5 text-sm font-medium whitespace-nowrap -outline-offset-2',
                id === current ? 'bg-tint text-accent' : 'text-soft hover:bg-hover hover:text-ink',
              )}
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
