// Asking for a link to set a new password.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { requestPasswordReset, signInOptionsQuery } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { CenteredPage } from './centered-page.tsx'

export function ForgotPage() {
  const { data: options } = useQuery(signInOptionsQuery)
  const ask = useMutation({ mutationFn: requestPasswordReset, onError() {} })
  const back = (
    <Link to="/sign-in" search={{}} className={TEXT_LINK}>
      Back to sign in
    </Link>
  )
  if (options && !options.mail) {
    return (
      <CenteredPage
        title="Set a new password"
        description={
          <>
            This server sends no mail. Ask whoever runs it for a link; they make one with{' '}
            <code>npm run -s towpath -- user reset you@example.com</code>
          </>
        }
        footer={back}
      />
    )
  }
  if (ask.isSuccess) {
    return (
      <CenteredPage
        title="Look into your mail"
        description="If there is an account with that address, a link to set a new password is on its way. It works once, for 30 minutes."
        footer={back}
      />
    )
  }
  return (
    <CenteredPage title="Set a new password" description="We send a link to your address." footer={back}>
      {ask.error && <FormError>{ask.error.message}</FormError>}
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          ask.mutate(String(new FormData(event.currentTarget).get('email')))
        }}
      >
        <TextField label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
        <Button type="submit" look="primary" busy={ask.isPending}>
          Send the link
        </Button>
      </form>
    </CenteredPage>
  )
}
