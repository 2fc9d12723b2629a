// A new form needs a name and nothing else; its page says how to go on.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId } from 'react'
import { ApiError } from '../../api/client.ts'
import { createForm, formQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../ui/forms/form-error.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'

export default function CreateFormDialog({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  const id = useId()
  const create = useMutation({
    mutationFn: (name: string) => createForm(api, { name }),
    async onSuccess(form) {
      client.setQueryData(formQuery(api, form.formKey).queryKey, form)
      void client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] })
      await navigate({
        to: '/$workspaceId/forms/$formKey',
        params: { workspaceId: String(api.workspaceId), formKey: form.formKey },
        search: {},
      })
    },
    onError() {},
  })
  const wrong = create.error instanceof ApiError ? findFieldError(create.error.errors, 'name') : undefined
  return (
    <Dialog
      open
      onClose={onClose}
      title="New form"
      description="You get an address for your HTML form, and lines to copy."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} look="primary" busy={create.isPending}>
            Create form
          </Button>
        </>
      }
    >
      <form
        id={id}
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate(String(new FormData(event.currentTarget).get('name')))
        }}
      >
        {create.error && !wrong && <FormError>{create.error.message}</FormError>}
        <TextField
          label="Name"
          name="name"
          placeholder="Contact"
          hint="Only you and your team see it."
          required
          maxLength={200}
          autoComplete="off"
          autoFocus
          error={wrong}
        />
      </form>
    </Dialog>
  )
}
