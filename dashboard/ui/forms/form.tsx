// A form whose fields the page reads, in place of the browser sending them.

import type { ComponentProps } from 'react'

interface Props extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  onSubmit: (fields: FormData) => void
}

export const Form = ({ onSubmit, ...props }: Props) => (
  <form
    {...props}
    onSubmit={(event) => {
      event.preventDefault()
      // A dialog with a form can be inside another form.
      event.stopPropagation()
      onSubmit(new FormData(event.currentTarget))
    }}
  />
)
