// The layout of the pages outside a workspace, such as sign-in: one card in the middle.

import { type ReactNode, useEffect } from 'react'
import { CenteredLayout } from '../../shell/centered-layout.tsx'

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
    <main>
      <CenteredLayout footer={footer && <div className="mt-4 text-center text-sm text-soft">{footer}</div>}>
        <header>
          <h1 className="text-xl font-semibold">{title}</h1>
          {description && <div className="mt-1 text-soft">{description}</div>}
        </header>
        {children}
      </CenteredLayout>
    </main>
  )
}
