// The page that gives an account back to its old email address, opened by the link from the mail to that address.

import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { undoEmailChange } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { CenteredPage } from './centered-page.tsx'

export function UndoEmailPage() {
  const { token = '' } = useSearch({ from: '/undo-email' })
  const undo = useMutation({
    mutationFn: () => undoEmailChange(token),
    onSuccess: (url) => location.assign(url),
    onError() {},
  })
  return (
    <CenteredPage
      title="Wasn’t you?"
      description="Your account goes back to this address, and all sessions end. Second factors that were added since are removed. You set a new password next."
    >
      {undo.error && <FormError>{undo.error.message}</FormError>}
      <Button
        variant="primary"
        busy={undo.isPending || undo.isSuccess}
        disabled={!token}
        onClick={() => undo.mutate()}
      >
        Recover my account
      </Button>
    </CenteredPage>
  )
}
