// The sign-up page, for the first account of a server or where sign-up is open.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { requestSignUp, signInOptionsQuery } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { CenteredPage } from './centered-page.tsx'
import { FirstAccount } from './first-account.tsx'
import { OperatorNeeded, SetupNeeded } from './setup-steps.tsx'

export function SignUpPage() {
  const { next } = useSearch({ from: '/sign-up' })
  const { data: options } = useQuery(signInOptionsQuery)
  const signInLink = (
    <>
      Already have an account?{' '}
      <Link to="/sign-in" search={{ next }} className="text-link">
        Sign in
      </Link>
    </>
  )
  if (options?.signup === 'setup') return <SetupNeeded />
  if (options?.signup === 'operator') return <OperatorNeeded />
  if (options?.signup === 'open') return <RequestSignUp footer={signInLink} />
  if (options?.signup === 'invite') {
    return (
      <CenteredPage
        title="Sign-up is by invitation"
        description="Ask an owner of your workspace to invite you, and open the link that they send."
        footer={signInLink}
      />
    )
  }
  if (!options) {
    return (
      <CenteredPage title="Create an account">
        <SkeletonRows rows={3} className="h-9" />
      </CenteredPage>
    )
  }
  return <FirstAccount oidcName={options.oidc?.name} />
}

/** The first step of a sign-up on a server that is open to everybody: a link goes to the address. */
function RequestSignUp({ footer }: { footer: ReactNode }) {
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
        <p className="text-sm text-soft">No email? Check your spam folder, or send the link again.</p>
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
      <Form className="grid gap-4" onSubmit={(fields) => send.mutate(String(fields.get('email')).trim())}>
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
      </Form>
    </CenteredPage>
  )
}
