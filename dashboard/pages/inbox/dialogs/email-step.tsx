// Asks for a person's email address, before all data of that person is exported or erased.

import { type ReactNode, useId } from 'react'
import { Button } from '../../../ui/button.tsx'
import { TextField } from '../../../ui/forms/field.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'

interface Props {
  title: string
  description: string
  action: ReactNode
  busy?: boolean
  error?: string
  email?: string
  onSubmit: (email: string) => void
  onClose: () => void
}

export function EmailStep({ title, description, action, busy, error, email, onSubmit, onClose }: Props) {
  const id = useId()
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={description}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} variant="primary" busy={busy}>
            {action}
          </Button>
        </>
      }
    >
      <form
        id={id}
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit(String(new FormData(event.currentTarget).get('email')).trim())
        }}
      >
        {error && <FormError>{error}</FormError>}
        <TextField
          label="Email address"
          name="email"
          type="email"
          required
          autoFocus
          autoComplete="off"
          maxLength={254}
          defaultValue={email}
          hint="Not case-sensitive."
        />
      </form>
    </Dialog>
  )
}
