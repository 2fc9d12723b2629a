// The page that sets a new password, opened by the link from the email.

import { useMutation } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { toFieldErrors } from '../../api/client.ts'
import { resetPassword } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { NewPasswordField } from '../../ui/forms/new-password-field.tsx'
import { CenteredPage } from './centered-page.tsx'

export function ResetPage() {
  const { token = '', error } = useSearch({ from: '/reset' })
  const reset = useMutation({ mutationFn: resetPassword, onError() {} })
  const errors = toFieldErrors(reset.error, ['newPassword', 'password'])
  if (error || !token) {
    return (
      <CenteredPage
        title="This link isn’t valid"
        description="It was used, or it is older than 30 minutes."
        footer={
          <Link to="/forgot" className="text-link">
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
        description="Your other sessions are signed out."
        footer={
          <Link to="/sign-in" search={{}} className="text-link">
            Sign in
          </Link>
        }
      />
    )
  }
  return (
    <CenteredPage title="Set a new password">
      {errors.general && <FormError>{errors.general}</FormError>}
      <Form
        className="grid gap-4"
        onSubmit={(fields) => reset.mutate({ token, newPassword: String(fields.get('password')) })}
      >
        <NewPasswordField
          label="New password"
          name="password"
          secondFactor={undefined}
          autoFocus
          error={errors.newPassword ?? errors.password}
        />
        <Button type="submit" variant="primary" busy={reset.isPending}>
          Set password
        </Button>
      </Form>
    </CenteredPage>
  )
}
