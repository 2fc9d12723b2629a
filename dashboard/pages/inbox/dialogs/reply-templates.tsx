// The reply templates of a form: choose one, save the written text as one, delete one.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { FormResource } from '../../../../server/features/forms/schema.ts'
import { updateForm } from '../../../api/forms.ts'
import type { Submission } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Field, Input, SelectField } from '../../../ui/forms/field.tsx'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { useFormOf } from '../state/field-labels.ts'
import { fillTemplate } from '../state/reply-text.ts'

interface Props {
  submission: Submission
  subject: string
  text: string
  onChoose: (content: { subject: string; text: string }) => void
}

function useSaveTemplates({ formKey }: Submission) {
  const api = useApi()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (replyTemplates: FormResource['replyTemplates']) =>
      updateForm(api, formKey, { replyTemplates }),
    onSuccess: () => client.invalidateQueries({ queryKey: [api.workspaceId, 'forms'] }),
    onError: (error) => toastError(error, 'Couldn’t save the template'),
  })
}

export function ReplyTemplates({ submission, subject, text, onChoose }: Props) {
  const form = useFormOf(submission)
  const templates = form?.replyTemplates ?? []
  const save = useSaveTemplates(submission)
  const [chosen, setChosen] = useState('')
  const [name, setName] = useState<string>()
  if (!form) return null
  const choose = (next: string) => {
    setChosen(next)
    const template = templates.find((each) => each.name === next)
    if (!template) return
    const [subject, filled] = [template.subject, template.text].map((each) => fillTemplate(each, submission))
    onChoose({ subject: subject ?? '', text: filled ?? '' })
  }
  const others = (without: string) => templates.filter((each) => each.name !== without)
  const add = () => {
    const trimmed = (name ?? '').trim()
    if (trimmed === '') return
    save.mutate([...others(trimmed), { name: trimmed, subject, text }], {
      onSuccess() {
        setChosen(trimmed)
        setName(undefined)
        toast('Template saved')
      },
    })
  }
  return (
    <div className="flex flex-wrap items-end gap-2">
      {templates.length > 0 && (
        <SelectField
          label="Template"
          className="min-w-40 flex-1"
          value={chosen}
          onChange={({ target }) => choose(target.value)}
          options={templates.map((template) => [template.name, template.name])}
        >
          <option value="">No template</option>
        </SelectField>
      )}
      {chosen !== '' && (
        <IconButton
          label="Delete template"
          onClick={() => save.mutate(others(chosen), { onSuccess: () => setChosen('') })}
        >
          <Trash2 size={17} />
        </IconButton>
      )}
      {name === undefined ? (
        <Button disabled={text.trim() === ''} onClick={() => setName(chosen)}>
          Save as template
        </Button>
      ) : (
        <TemplateName name={name} onChange={setName} isSaving={save.isPending} save={add} />
      )}
    </div>
  )
}

interface TemplateNameProps {
  name: string
  onChange: (name: string) => void
  isSaving: boolean
  save: () => void
}

const TemplateName = ({ name, onChange, isSaving, save }: TemplateNameProps) => (
  <>
    <Field label="Template name" className="min-w-40 flex-1">
      {(control) => (
        <Input
          {...control}
          autoFocus
          value={name}
          maxLength={100}
          onChange={({ target }) => onChange(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            save()
          }}
        />
      )}
    </Field>
    <Button busy={isSaving} onClick={save}>
      Save
    </Button>
  </>
)
