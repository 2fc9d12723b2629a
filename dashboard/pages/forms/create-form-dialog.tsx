// The dialog that creates a form. Only a name is needed; the form's page explains the next steps.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId } from 'react'
import { toFieldErrors } from '../../api/client.ts'
import { createForm, formQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
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
  const { name: nameError } = toFieldErrors(create.error)
  return (
    <Dialog
      open
      onClose={onClose}
      title="New form"
      description="You get an endpoint for your HTML form, and code to copy."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} variant="primary" busy={create.isPending}>
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
        {create.error && !nameError && <FormError>{create.error.message}</FormError>}
        <TextField
          label="Name"
          name="name"
          placeholder="Contact"
          hint="Only your team sees it."
          required
          maxLength={200}
          autoComplete="off"
          autoFocus
          error={nameError}
        />
      </form>
    </Dialog>
  )
}
