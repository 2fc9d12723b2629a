// One group of a form's settings, and the links to all groups.

import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { toTabClass } from '../../../ui/tab-links.tsx'
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

/** A column beside the settings; on narrow windows one line above them. It marks the group that is in view. */
export function GroupLinks({ errors }: { errors: Record<string, string> }) {
  const current = useGroupInView()
  return (
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
                aria-current={id === current ? 'location' : undefined}
                className={classNames(toTabClass(id === current), hasError && 'text-danger!')}
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
}

/** A group counts as in view once its top has passed this part of the window. */
const READING_LINE = 1 / 3

function findGroupInView(): GroupId | undefined {
  const isPast = ({ id }: { id: string }) =>
    (document.getElementById(id)?.getBoundingClientRect().top ?? Infinity) < innerHeight * READING_LINE
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 1
  // At the end of the page, the last groups cannot come up to the line: the chosen one counts.
  const chosen = isAtEnd
    ? (GROUPS.find(({ id }) => id === location.hash.slice(1)) ?? GROUPS.at(-1))
    : undefined
  return (chosen ?? GROUPS.findLast(isPast) ?? GROUPS[0])?.id
}

function useGroupInView() {
  const [current, setCurrent] = useState<GroupId>()
  useEffect(() => {
    const update = () => setCurrent(findGroupInView())
    update()
    addEventListener('scroll', update, { passive: true })
    return () => removeEventListener('scroll', update)
  }, [])
  return current
}
