// Setting a new password with the link from the mail.

import { useMutation } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { ApiError } from '../../api/client.ts'
import { resetPassword } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { PASSWORD_MIN } from './account-form.tsx'
import { CenteredPage } from './centered-page.tsx'

export function ResetPage() {
  const { token = '', error } = useSearch({ from: '/reset' })
  const reset = useMutation({ mutationFn: resetPassword, onError() {} })
  const errors = reset.error instanceof ApiError ? reset.error.errors : {}
  if (error || !token) {
    return (
      <CenteredPage
        title="This link does not work"
        description="It may have been used, or be older than 30 minutes."
        footer={
          <Link to="/forgot" className={TEXT_LINK}>
            Ask for a new one
          </Link>
        }
      />
    )
  }
  if (reset.isSuccess) {
    return (
      <CenteredPage
        title="Your password is set"
        description="You were signed out everywhere else."
        footer={
          <Link to="/sign-in" search={{}} className={TEXT_LINK}>
            Sign in
          </Link>
        }
      />
    )
  }
  return (
    <CenteredPage title="Set a new password">
      {reset.error && Object.keys(errors).length === 0 && <FormError>{reset.error.message}</FormError>}
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          reset.mutate({ token, newPassword: String(new FormData(event.currentTarget).get('password')) })
        }}
      >
        <TextField
          label="New password"
          name="password"
          type="password"
          autoComplete="new-password"
          required
          autoFocus
          minLength={PASSWORD_MIN}
          maxLength={128}
          hint={`At least ${PASSWORD_MIN} characters.`}
          error={errors.newPassword ?? errors.password}
        />
        <Button type="submit" look="primary" busy={reset.isPending}>
          Set the password
        </Button>
      </form>
    </CenteredPage>
  )
}
