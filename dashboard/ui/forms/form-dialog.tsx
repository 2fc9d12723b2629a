// A dialog with one form. Its footer has Cancel and the button that sends the form.

import { type ComponentProps, type ReactNode, useId } from 'react'
import { Button } from '../button.tsx'
import { Dialog } from '../overlays/dialog.tsx'
import { Form } from './form.tsx'
import { FormError } from './form-error.tsx'

interface Props extends Omit<ComponentProps<typeof Dialog>, 'open' | 'footer' | 'done'> {
  /** The label of the button that sends the form. */
  action: ReactNode
  busy?: boolean
  disabled?: boolean
  /** An error that belongs to no field. */
  error?: string
  noValidate?: boolean
  /** Of the form. */
  className?: string
  onSubmit: (fields: FormData) => void
}

export function FormDialog({
  action,
  busy,
  disabled,
  error,
  noValidate,
  className = 'grid gap-4',
  onSubmit,
  children,
  ...dialog
}: Props) {
  const id = useId()
  return (
    <Dialog
      {...dialog}
      footer={
        <>
          <Button onClick={dialog.onClose}>Cancel</Button>
          <Button type="submit" form={id} variant="primary" busy={busy} disabled={disabled}>
            {action}
          </Button>
        </>
      }
    >
      <Form
        id={id}
        noValidate={noValidate}
        className={className}
        onSubmit={(fields) => busy || onSubmit(fields)}
      >
        {error && <FormError>{error}</FormError>}
        {children}
      </Form>
    </Dialog>
  )
}
