// Tabs that are addresses: each can be opened, shared and gone back to.

import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

export interface TabLink {
  id: string
  label: string
  /** Behind the label, such as a number. */
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
              // Only what is named above says which one is open.
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
