// Addresses that lead nowhere, and pages that broke.

import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { EmptyState, ErrorState } from '../ui/states.tsx'

export const NotFoundPage = () => (
  <Page title="Not found">
    <EmptyState
      icon={<Compass size={32} />}
      title="There is nothing at this address"
      action={<ButtonLink to="/">Go to your links</ButtonLink>}
    >
      It may have been deleted, or it belongs to a workspace that you are not a member of.
    </EmptyState>
  </Page>
)

export function RouteErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  // After an upgrade the files of the version before are gone.
  const outdated = /dynamically imported module|Importing a module script failed/i.test(
    error instanceof Error ? error.message : '',
  )
  return (
    <Page title={outdated ? 'There is a newer version' : 'Something went wrong'}>
      {outdated ? (
        <Button look="primary" onClick={() => location.reload()}>
          Reload
        </Button>
      ) : (
        <ErrorState error={error} retry={retry} />
      )}
    </Page>
  )
}
