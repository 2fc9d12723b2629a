// One group of a form's settings, and the links to all groups.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { findGroupErrors, GROUPS, type GroupId } from './form-draft.ts'

/** @param error about the group as a whole */
export function SettingsGroup({ id, error, children }: { id: GroupId; error?: string; children: ReactNode }) {
  return (
    <div id={id} className="scroll-mt-4 max-lg:scroll-mt-16">
      <Card title={GROUPS.find((group) => group.id === id)?.title}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          {error && (
            <p
              role="alert"
              tabIndex={-1}
              className="rounded-lg border border-danger bg-danger-tint px-3 py-2 text-sm"
            >
              {error}
            </p>
          )}
          {children}
        </div>
      </Card>
    </div>
  )
}

/** A column beside the settings; on narrow windows one line above them. */
export const GroupLinks = ({ errors }: { errors: Record<string, string> }) => (
  <nav aria-label="Groups of settings" className="min-w-0 max-xl:overflow-x-auto xl:sticky xl:top-6">
    <ul className="flex gap-1 xl:grid">
      {GROUPS.map((group) => {
        const { id, title } = group
        const hasError = findGroupErrors(group, errors).length > 0
        return (
          <li key={id}>
            <Link
              to="."
              search
              hash={id}
              replace
              activeProps={{}}
              className={classNames(
                'flex h-8 items-center gap-1.5 rounded-lg px-2.5 text-sm whitespace-nowrap -outline-offset-2 hover:bg-hover',
                hasError ? 'font-medium text-danger' : 'text-soft hover:text-ink',
              )}
            >
              {title}
              {hasError && <span className="sr-only">: has an error</span>}
            </Link>
          </li>
        )
      })}
    </ul>
  </nav>
)
