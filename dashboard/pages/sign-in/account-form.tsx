// Name, e-mail and password of a new account.

import { ApiError } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'

export const PASSWORD_MIN = 10

interface Account {
  name: string
  email: string
  password: string
}

/** @param email the address that was invited; it cannot be another */
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
  const errors = error instanceof ApiError ? error.errors : {}
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        const given = new FormData(event.currentTarget)
        const text = (name: string) => String(given.get(name) ?? '')
        onSubmit({ name: text('name').trim(), email: email ?? text('email'), password: text('password') })
      }}
    >
      {error && Object.keys(errors).length === 0 && <FormError>{error.message}</FormError>}
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
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        required
        maxLength={254}
        value={email}
        readOnly={email !== undefined}
        error={errors.email}
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        required
        minLength={PASSWORD_MIN}
        maxLength={128}
        hint={`At least ${PASSWORD_MIN} characters; a few words are easy to remember.`}
        error={errors.password}
      />
      <Button type="submit" look="primary" busy={busy}>
        {action}
      </Button>
    </form>
  )
}
