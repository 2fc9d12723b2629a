// The frame of a page: heading, description and actions.

import { type ReactNode, useEffect } from 'react'
import { classNames } from './class-names.ts'

interface PageProps {
  title: string
  /** Replaces the title in the page. The browser tab still shows the title. */
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
        <div className={classNames('min-w-0 flex-1', description ? 'basis-full sm:basis-40' : 'basis-40')}>
          <h1 className="text-2xl font-semibold tracking-tight break-words">{heading ?? title}</h1>
          {description && <div className="mt-1 text-soft">{description}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </main>
  )
}
