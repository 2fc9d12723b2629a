// The pages for unknown addresses and for errors while a page is drawn.

import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, ButtonLink } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Page } from '../ui/page.tsx'

export const NotFoundPage = () => (
  <MissingPage title="This page doesn’t exist">
    It was deleted, or it belongs to a workspace that you aren’t a member of.
  </MissingPage>
)

export const NoWorkspacePage = () => (
  <MissingPage title="You can’t open this workspace">
    It was deleted, or you aren’t a member of it. Ask one of its owners to invite you.
  </MissingPage>
)

const MissingPage = ({ title, children }: { title: string; children: ReactNode }) => (
  <Page title="Not found">
    <EmptyState icon={Search} title={title} action={<ButtonLink to="/">Go to your links</ButtonLink>}>
      {children}
    </EmptyState>
  </Page>
)

export function RouteErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  // After an upgrade, the server no longer has the previous version's files.
  const outdated = /dynamically imported module|Importing a module script failed/i.test(
    error instanceof Error ? error.message : '',
  )
  return (
    <Page title={outdated ? 'A new version is available' : 'Something went wrong'}>
      {outdated ? (
        <Button variant="primary" onClick={() => location.reload()}>
          Reload
        </Button>
      ) : (
        <ErrorState error={error} retry={retry} />
      )}
    </Page>
  )
}
