// A form whose fields the page reads, in place of the browser sending them.

import type { ComponentProps } from 'react'

interface Props extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  onSubmit: (fields: FormData) => void
}

/** A date or a number that is typed halfway has no value, and would be saved as none. */
const findHalfTyped = ({ elements }: HTMLFormElement) =>
  [...elements].find(
    (field): field is HTMLInputElement => field instanceof HTMLInputElement && field.validity.badInput,
  )

export const Form = ({ onSubmit, ...props }: Props) => (
  <form
    {...props}
    onSubmit={(event) => {
      event.preventDefault()
      // A dialog with a form can be inside another form.
      event.stopPropagation()
      const halfTyped = findHalfTyped(event.currentTarget)
      // The browser says it at the field, in its language.
      if (halfTyped) halfTyped.reportValidity()
      else onSubmit(new FormData(event.currentTarget))
    }}
  />
)
