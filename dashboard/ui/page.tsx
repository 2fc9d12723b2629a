// The frame of a page: its name, what can be done on it, and cards.

import { type ReactNode, useEffect } from 'react'
import { classNames } from './class-names.ts'

interface PageProps {
  title: string
  /** Shown in place of the title, which still names the tab. */
  heading?: ReactNode
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function Page({ title, heading, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Towpath`
  }, [title])
  return (
    <main id="main" tabIndex={-1} className="mx-auto w-full max-w-6xl px-4 py-6 outline-none sm:px-8 sm:py-8">
      <header className="mb-6 flex flex-wrap items-center gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-40">
          <h1 className="text-2xl font-semibold tracking-tight break-words">{heading ?? title}</h1>
          {description && <div className="mt-1 text-soft">{description}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </main>
  )
}

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
