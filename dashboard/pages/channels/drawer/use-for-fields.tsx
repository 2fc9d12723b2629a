// The forms that use a channel: all of them and new ones too, chosen ones, or none yet.

import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { ChannelResource } from '../../../api/channels.ts'
import { formNamesQuery } from '../../../api/forms.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Checkbox } from '../../../ui/forms/field.tsx'
import { findFieldError } from '../../../ui/forms/form-error.tsx'
import { RadioList } from '../../../ui/forms/radio-list.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import type { ChannelFormValues, ChannelUse } from './channel-values.ts'

const USES: { value: ChannelUse; name: string; about: string }[] = [
  { value: 'all', name: 'All forms', about: 'New forms too.' },
  { value: 'chosen', name: 'Chosen forms', about: 'Only the forms you select.' },
  { value: 'none', name: 'None yet', about: 'Nobody is notified until a form uses it.' },
]

interface Props {
  channel: ChannelResource | undefined
  values: ChannelFormValues
  errors: Record<string, string>
  onChange: (values: ChannelFormValues) => void
}

export function UseForFields({ channel, values, errors, onChange }: Props) {
  const forms = useQuery(formNamesQuery(useApi()))
  const using = forms.data?.filter(({ channelIds }) => channel && channelIds.includes(channel.id)) ?? []
  const selected = values.formKeys ?? using.map(({ formKey }) => formKey)
  const choose = (formKey: string, on: boolean) =>
    onChange({
      ...values,
      formKeys: on ? [...selected, formKey] : selected.filter((each) => each !== formKey),
    })
  return (
    <div className="grid gap-3">
      <RadioList
        legend="Use for"
        options={USES}
        value={values.use}
        error={findFieldError(errors, 'allForms') ?? findFieldError(errors, 'formKeys')}
        change={(use) => onChange({ ...values, use, ...(use === 'chosen' && { formKeys: selected }) })}
      />
      {values.use === 'chosen' && !forms.data && <Skeleton className="h-16" />}
      {values.use === 'chosen' && forms.data && (
        <fieldset className="grid max-h-60 gap-2 overflow-y-auto pl-7">
          <legend className="sr-only">Forms</legend>
          {forms.data.map((form) => (
            <FormChoice
              key={form.formKey}
              form={form}
              checked={selected.includes(form.formKey)}
              onChange={(on) => choose(form.formKey, on)}
            />
          ))}
          {forms.data.length === 0 && <p className="text-sm text-soft">You have no forms yet.</p>}
        </fieldset>
      )}
    </div>
  )
}

function FormChoice({
  form,
  checked,
  onChange,
}: {
  form: { name: string }
  checked: boolean
  onChange: (on: boolean) => void
}) {
  const id = useId()
  return (
    <div className="flex min-w-0 items-center gap-3">
      <Checkbox id={id} checked={checked} onChange={({ target }) => onChange(target.checked)} />
      <label htmlFor={id} className="truncate">
        {form.name}
      </label>
    </div>
  )
}
