// A box with a title, its own actions and content.

import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'

export function Card({
  title,
  actions,
  children,
  className,
}: {
  title?: ReactNode
  actions?: ReactNode
  children: ReactNode
  className?: string
}) {
  return (
    <section className={classNames('rounded-2xl border border-line bg-card', className)}>
      {(title || actions) && (
        <header className="flex items-center gap-3 border-b border-line px-4 py-3 sm:px-5">
          <h2 className="min-w-0 flex-1 font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      <div className="p-4 sm:p-5">{children}</div>
    </section>
  )
}
