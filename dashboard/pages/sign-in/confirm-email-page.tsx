// The page that confirms a new email address, opened by the link from the mail to that address.

import { useMutation } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { confirmEmail } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { CenteredPage } from './centered-page.tsx'

export function ConfirmEmailPage() {
  const { token = '' } = useSearch({ from: '/confirm-email' })
  const confirm = useMutation({ mutationFn: () => confirmEmail(token), onError() {} })
  if (confirm.isSuccess) {
    return (
      <CenteredPage
        title="Email address changed"
        description="You sign in with the new address from now on."
        footer={
          <Link to="/" className="text-link">
            Open the dashboard
          </Link>
        }
      />
    )
  }
  return (
    <CenteredPage
      title="Confirm your new email address"
      description="You’ll sign in with this address from now on."
    >
      {confirm.error && <FormError>{confirm.error.message}</FormError>}
      {/* A button, because programs that check mails open every link in them. */}
      <Button variant="primary" busy={confirm.isPending} disabled={!token} onClick={() => confirm.mutate()}>
        Confirm address
      </Button>
    </CenteredPage>
  )
}
