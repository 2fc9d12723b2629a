// The form for a new account: name, email and password.

import { toFieldErrors } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { NewPasswordField } from '../../ui/forms/new-password-field.tsx'

interface Account {
  name: string
  email: string
  password: string
}

/** @param email the invited address, which the user cannot change */
export function AccountForm({
  email,
  error,
  busy,
  action,
  onSubmit,
}: {
  email?: string
  error: Error | null
  busy: boolean
  action: string
  onSubmit: (account: Account) => void
}) {
  const errors = toFieldErrors(error, ['name', 'email', 'password'])
  return (
    <Form
      className="grid gap-4"
      onSubmit={(fields) => {
        const text = (name: string) => String(fields.get(name) ?? '')
        onSubmit({ name: text('name').trim(), email: email ?? text('email'), password: text('password') })
      }}
    >
      {errors.general && <FormError>{errors.general}</FormError>}
      <TextField
        label="Your name"
        name="name"
        autoComplete="name"
        required
        maxLength={100}
        autoFocus
        error={errors.name}
      />
      <TextField
        label="Email"
        name="email"
        type="email"
        autoComplete="username"
        required
        maxLength={254}
        value={email}
        readOnly={email !== undefined}
        error={errors.email}
      />
      <NewPasswordField
        label="Password"
        name="password"
        secondFactor={false}
        hint="A few random words are easiest to remember."
        error={errors.password}
      />
      <Button type="submit" variant="primary" busy={busy}>
        {action}
      </Button>
    </Form>
  )
}
