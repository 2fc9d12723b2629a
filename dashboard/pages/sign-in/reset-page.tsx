// The page that sets a new password, opened by the link from the e-mail.

import { useMutation } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { toFieldErrors } from '../../api/client.ts'
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
  const errors = toFieldErrors(reset.error)
  if (error || !token) {
    return (
      <CenteredPage
        title="This link is not valid"
        description="It was used, or it is older than 30 minutes."
        footer={
          <Link to="/forgot" className={TEXT_LINK}>
            Request a new link
          </Link>
        }
      />
    )
  }
  if (reset.isSuccess) {
    return (
      <CenteredPage
        title="Password changed"
        description="Your other
        sessions are signed out."
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
      {errors.general && <FormError>{errors.general}</FormError>}
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
        <Button type="submit" variant="primary" busy={reset.isPending}>
          Set password
        </Button>
      </form>
    </CenteredPage>
  )
}
