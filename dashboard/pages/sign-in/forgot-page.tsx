// The page that sends a link to reset the password.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { requestPasswordReset, signInOptionsQuery } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { CenteredPage } from './centered-page.tsx'

export function ForgotPage() {
  const { data: options } = useQuery(signInOptionsQuery)
  const send = useMutation({ mutationFn: requestPasswordReset, onError() {} })
  const back = (
    <Link to="/sign-in" search={{}} className="text-link">
      Back to sign in
    </Link>
  )
  if (options && !options.mail) {
    return (
      <CenteredPage
        title="Reset your password"
        description={
          <>
            This server doesn’t send email. Ask its operator for a reset link. The operator creates it with{' '}
            <code>npx towpath user reset you@example.com</code>
          </>
        }
        footer={back}
      />
    )
  }
  if (send.isSuccess) {
    return (
      <CenteredPage
        title="Check your email"
        description="If an account has this address, we sent it a link to reset the password. The link works once, for 30 minutes."
        footer={back}
      />
    )
  }
  return (
    <CenteredPage
      title="Reset your password"
      description="We will send a link to your email address."
      footer={back}
    >
      {send.error && <FormError>{send.error.message}</FormError>}
      <Form className="grid gap-4" onSubmit={(fields) => send.mutate(String(fields.get('email')))}>
        <TextField label="Email" name="email" type="email" autoComplete="username" required autoFocus />
        <Button type="submit" variant="primary" busy={send.isPending}>
          Send reset link
        </Button>
      </Form>
    </CenteredPage>
  )
}
