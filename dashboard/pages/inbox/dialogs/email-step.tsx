// Asks for a person's email address, before all data of that person is exported or erased.

import type { ReactNode } from 'react'
import { TextField } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'

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
  return (
    <FormDialog
      onClose={onClose}
      title={title}
      description={description}
      action={action}
      busy={busy}
      error={error}
      onSubmit={(fields) => onSubmit(String(fields.get('email')).trim())}
    >
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
    </FormDialog>
  )
}
