// The pages for unknown addresses and for errors while a page is drawn.

import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { Button, ButtonLink } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Page } from '../ui/page.tsx'

export const NotFoundPage = () => (
  <Page title="Not found">
    <EmptyState
      icon={<Compass size={32} />}
      title="This page does not exist"
      action={<ButtonLink to="/">Go to links</ButtonLink>}
    >
      It was deleted, or it belongs to a workspace that you are not a member of.
    </EmptyState>
  </Page>
)

export const NoWorkspacePage = () => (
  <Page title="Not found">
    <EmptyState
      icon={<Compass size={32} />}
      title="You cannot open this workspace"
      action={<ButtonLink to="/">Go to your links</ButtonLink>}
    >
      It was deleted, or you are not a member of it. Ask one of its owners to invite you.
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
