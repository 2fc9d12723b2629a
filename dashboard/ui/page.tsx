// The frame of a page: breadcrumb, heading, actions and description.

import { Link, type LinkProps } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { classNames } from './class-names.ts'

/** The width of settings and of text, which lists and charts exceed. */
export const COLUMN = 'grid max-w-3xl grid-cols-[minmax(0,1fr)]'

/** A side nav and a column beside it; on narrow windows the nav is one line above the column. */
export const SIDE_NAV_GRID =
  'grid grid-cols-[minmax(0,1fr)] items-start gap-x-8 gap-y-4 xl:grid-cols-[11rem_minmax(0,48rem)]'

/** A parent page in the breadcrumb. */
export interface Crumb {
  label: string
  to: LinkProps['to']
}

interface PageProps {
  title: string
  /** Replaces the title in the page. The browser tab still shows the title. */
  heading?: ReactNode
  /** The parent pages, starting at the sidebar's entry. */
  breadcrumb?: Crumb[]
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function Page({ title, heading, breadcrumb, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Towpath`
  }, [title])
  return (
    <main id="main" tabIndex={-1} className="mx-auto w-full max-w-6xl px-4 py-6 outline-none sm:px-8 sm:py-8">
      <header className="mb-6 flex flex-wrap items-center gap-x-4 gap-y-2 sm:grid sm:grid-cols-[minmax(0,1fr)_auto] sm:gap-y-1">
        {breadcrumb && <Breadcrumb crumbs={breadcrumb} />}
        <h1 className="min-w-0 flex-1 basis-40 text-2xl font-semibold tracking-tight break-words sm:col-start-1">
          {heading ?? title}
        </h1>
        {actions && (
          <div
            className={classNames(
              'flex flex-wrap items-center gap-2',
              description ? 'max-sm:order-last' : undefined,
            )}
          >
            {actions}
          </div>
        )}
        {description && <div className="min-w-0 basis-full text-soft sm:col-span-full">{description}</div>}
      </header>
      {children}
    </main>
  )
}

const toLink = (to: LinkProps['to']) =>
  ({ to, params: true, search: {} }) as Pick<LinkProps, 'to' | 'params' | 'search'>

const Breadcrumb = ({ crumbs }: { crumbs: Crumb[] }) => (
  <nav aria-label="Breadcrumb" className="basis-full sm:col-span-full">
    <ol className="flex flex-wrap items-center gap-1 text-sm text-soft">
      {crumbs.map(({ label, to }) => (
        <li key={label} className="flex items-center gap-1">
          {/* The parameters of the address, such as the workspace, stay. */}
          <Link {...toLink(to)} className="rounded hover:text-ink hover:underline">
            {label}
          </Link>
          <ChevronRight size={14} aria-hidden />
        </li>
      ))}
    </ol>
  </nav>
)
