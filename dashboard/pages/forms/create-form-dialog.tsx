// The dialog that creates a form. Only a name is needed; the form's page explains the next steps.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { CreateFormInput } from '../../../server/features/forms/schema.ts'
import { toFieldErrors } from '../../api/client.ts'
import { createForm, formQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import {
  AfterSendingChoice,
  NEW_FORM_SENDING,
  OnErrorChoice,
  PageUrlInput,
} from './settings/groups/sending-fields.tsx'

export default function CreateFormDialog({ onClose }: { onClose: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const navigate = useNavigate()
  const id = useId()
  const [draft, setDraft] = useState(NEW_FORM_SENDING)
  const create = useMutation({
    mutationFn: (input: CreateFormInput) => createForm(api, input),
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
  const errors = toFieldErrors(create.error)
  const fields = { draft, set: (part: Partial<typeof draft>) => setDraft({ ...draft, ...part }), errors }
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
        noValidate
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate({ name: String(new FormData(event.currentTarget).get('name')), ...draft })
        }}
      >
        {errors.general && <FormError>{errors.general}</FormError>}
        <TextField
          label="Name"
          name="name"
          placeholder="Contact"
          hint="For your team. Senders see it only when they confirm their address."
          required
          maxLength={200}
          autoComplete="off"
          autoFocus
          error={errors.name}
        />
        <PageUrlInput {...fields} optional />
        <AfterSendingChoice {...fields} />
        <OnErrorChoice {...fields} />
      </form>
    </Dialog>
  )
}
