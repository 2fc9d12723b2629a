// A list without entries: says why, and offers the next step.

import { type LucideIcon, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon?: LucideIcon
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="grid justify-items-center gap-2 rounded-2xl border border-dashed border-line px-6 py-14 text-center">
      {Icon && <Icon size={28} aria-hidden className="mb-1 text-soft" />}
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="max-w-prose text-soft">{children}</div>}
      {action && <div className="mt-3 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}

/** A search or filters that nothing fits. */
export const NoMatches = ({ children, clear }: { children?: ReactNode; clear: () => void }) => (
  <EmptyState icon={SearchX} title="No matches" action={<Button onClick={clear}>Clear filters</Button>}>
    {children ?? 'Nothing fits the search and the filters.'}
  </EmptyState>
)
