// The first step of a sign-up on a server that is open to everybody: a link goes to the address.

import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { requestSignUp } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { CenteredPage } from './centered-page.tsx'

export function RequestSignUp({ footer }: { footer: ReactNode }) {
  const send = useMutation({ mutationFn: requestSignUp, onError() {} })
  const again = useMutation({ mutationFn: requestSignUp, onError() {} })
  const errors = toFieldErrors(send.error, ['email'])
  if (send.isSuccess)
    return (
      <CenteredPage
        title="Check your email"
        description={
          <>
            We sent a link to <strong className="font-medium break-words text-ink">{send.variables}</strong>.
            Open it within 24 hours to create your account.
          </>
        }
        footer={footer}
      >
        <p className="text-sm text-soft">No email? Look in the spam folder, or send the link again.</p>
        {again.error && <FormError>{again.error.message}</FormError>}
        <Button busy={again.isPending} onClick={() => again.mutate(send.variables)}>
          {again.isSuccess ? 'Sent. Send once more' : 'Send again'}
        </Button>
        <Button variant="quiet" onClick={() => send.reset()}>
          Use another address
        </Button>
      </CenteredPage>
    )
  return (
    <CenteredPage
      title="Create an account"
      description="We will send a link to your email address."
      footer={footer}
    >
      {errors.general && <FormError>{errors.general}</FormError>}
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate(String(new FormData(event.currentTarget).get('email')).trim())
        }}
      >
        <TextField
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          required
          maxLength={254}
          autoFocus
          error={errors.email}
        />
        <Button type="submit" variant="primary" busy={send.isPending}>
          Send link
        </Button>
      </form>
    </CenteredPage>
  )
}
