// The layout of the pages outside a workspace, such as sign-in: one card in the middle.

import { type ReactNode, useEffect } from 'react'
import { Logo } from '../../shell/logo.tsx'

export function CenteredPage({
  title,
  description,
  children,
  footer,
}: {
  title: string
  description?: ReactNode
  children?: ReactNode
  footer?: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · Towpath`
  }, [title])
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2.5 text-lg font-semibold">
          <Logo size={30} />
          Towpath
        </div>
        <div className="grid gap-5 rounded-2xl border border-line bg-card p-6">
          <header>
            <h1 className="text-xl font-semibold">{title}</h1>
            {description && <div className="mt-1 text-soft">{description}</div>}
          </header>
          {children}
        </div>
        {footer && <div className="mt-4 text-center text-sm text-soft">{footer}</div>}
      </div>
    </main>
  )
}
