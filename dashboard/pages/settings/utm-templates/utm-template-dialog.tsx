// The dialog that creates and edits a UTM template.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, toFieldErrors } from '../../../api/client.ts'
import {
  createUtmTemplate,
  invalidateUtmTemplates,
  type UtmTemplateInput,
  type UtmTemplateResource,
  updateUtmTemplate,
} from '../../../api/utm-templates.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { formatExample, TextField } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { toast } from '../../../ui/overlays/toast.tsx'
import { UTM_PARAMETERS } from '../../links/editor/destination-url.ts'
import { UtmInputs } from '../../links/editor/utm-inputs.tsx'

interface Props {
  /** undefined for a new template. */
  template?: UtmTemplateResource
  /** The values that a new template starts with. */
  start?: UtmTemplateInput
  onClose: () => void
  onSaved?: (template: UtmTemplateResource) => void
}

export function UtmTemplateDialog({ template, start = {}, onClose, onSaved }: Props) {
  const api = useApi()
  const client = useQueryClient()
  const [input, setInput] = useState<UtmTemplateInput>(template ?? start)
  const change = (part: UtmTemplateInput) => setInput((before) => ({ ...before, ...part }))
  const save = useMutation({
    mutationFn() {
      const values = Object.fromEntries(
        UTM_PARAMETERS.map(({ field }) => [field, input[field]?.trim() || null]),
      )
      const body = { name: input.name?.trim() ?? '', ...values }
      return template ? updateUtmTemplate(api, template.id, body) : createUtmTemplate(api, body)
    },
    onSuccess(saved) {
      void invalidateUtmTemplates(client, api)
      toast(template ? 'Template saved' : `“${saved.name}” created`)
      onSaved?.(saved)
      onClose()
    },
    onError() {},
  })
  const { general, ...errors } = toFieldErrors(save.error, [
    'name',
    ...UTM_PARAMETERS.map(({ field }) => field),
  ])
  // The only conflict that a template can have is about its name.
  const isConflict = save.error instanceof ApiError && save.error.status === 409
  return (
    <FormDialog
      onClose={onClose}
      title={template ? 'Edit UTM template' : 'New UTM template'}
      action={template ? 'Save' : 'Create template'}
      busy={save.isPending}
      error={isConflict ? undefined : general}
      noValidate
      onSubmit={() => save.mutate()}
    >
      <Fields
        input={input}
        errors={isConflict ? { ...errors, name: general ?? '' } : errors}
        onChange={change}
      />
      <p className="text-sm text-soft">Empty fields leave the link’s own values as they are.</p>
    </FormDialog>
  )
}

interface FieldsProps {
  input: UtmTemplateInput
  errors: Record<string, string>
  onChange: (part: UtmTemplateInput) => void
}

const Fields = ({ input, errors, onChange }: FieldsProps) => (
  <>
    <TextField
      label="Name"
      required
      autoFocus
      autoComplete="off"
      maxLength={50}
      placeholder={formatExample('Newsletter')}
      value={input.name ?? ''}
      error={errors.name}
      onChange={({ target }) => onChange({ name: target.value })}
    />
    <UtmInputs
      toValue={({ field }) => input[field]}
      toError={({ field }) => errors[field]}
      onChange={({ field }, value) => onChange({ [field]: value })}
    />
  </>
)
