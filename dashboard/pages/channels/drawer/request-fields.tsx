// The request of a channel of type http: presets, method, headers and body.

import { useRef, useState } from 'react'
import { HTTP_PRESETS } from '../../../../server/features/notify/presets/schema.ts'
import { Field, SelectField, Textarea } from '../../../ui/forms/field.tsx'
import { findFieldError } from '../../../ui/forms/form-error.tsx'
import { PlaceholderButtons } from '../../../ui/forms/placeholder-buttons.tsx'
import { type ChannelFormValues, type RequestValues, toHeaderLines } from './channel-values.ts'

const METHODS: RequestValues['method'][] = ['POST', 'PUT', 'PATCH']
const PLACEHOLDERS = [
  'fields.name',
  'email',
  'fields.message',
  'formName',
  'link.shortUrl',
  'utmCampaign',
  'data',
]

interface Props {
  isNew: boolean
  values: ChannelFormValues
  errors: Record<string, string>
  onChange: (values: ChannelFormValues) => void
}

export function RequestFields({ isNew, values, errors, onChange }: Props) {
  const body = useRef<HTMLTextAreaElement>(null)
  const { request } = values
  const set = (next: Partial<RequestValues>) => onChange({ ...values, request: { ...request, ...next } })
  return (
    <>
      <SelectField
        label="Method"
        error={errors.method}
        value={request.method}
        onChange={({ target }) => set({ method: target.value as RequestValues['method'] })}
      >
        {METHODS.map((method) => (
          <option key={method}>{method}</option>
        ))}
      </SelectField>
      <Field
        label="Headers"
        hint={
          isNew
            ? 'One a line, such as Authorization: Bearer …. They are stored encrypted and never shown again.'
            : 'One a line. (hidden) keeps the current value.'
        }
        error={findFieldError(errors, 'headers')}
      >
        {(control) => (
          <Textarea
            {...control}
            rows={3}
            className="font-mono text-sm"
            autoComplete="off"
            spellCheck={false}
            value={request.headers}
            onChange={({ target }) => set({ headers: target.value })}
          />
        )}
      </Field>
      <div className="grid gap-2">
        <Field
          label="Body"
          hint="JSON, unless a header Content-Type says form or plain text. Values are escaped. {{fields.company}} is a field of the form, {{fields.message | 2000}} its first 2,000 characters, {{data}} everything."
          error={errors.body}
        >
          {(control) => (
            <Textarea
              {...control}
              ref={body}
              required
              rows={10}
              maxLength={20_000}
              className="font-mono text-sm"
              spellCheck={false}
              value={request.body}
              onChange={({ target }) => set({ body: target.value })}
            />
          )}
        </Field>
        <PlaceholderButtons names={PLACEHOLDERS} field={body} onChange={(next) => set({ body: next })} />
      </div>
    </>
  )
}

export function PresetChoice({ values, onChange }: Pick<Props, 'values' | 'onChange'>) {
  const [id, setId] = useState('')
  const chosen = HTTP_PRESETS.find((preset) => preset.id === id)
  function choose(next: string) {
    setId(next)
    const preset = HTTP_PRESETS.find((each) => each.id === next)
    if (!preset) return
    const { url, method, headers, body } = preset
    onChange({ ...values, url, request: { method, headers: toHeaderLines(headers), body } })
  }
  return (
    <SelectField
      label="Start with"
      hint={chosen && `${chosen.hint} Replace what is in ‹›.`}
      value={id}
      onChange={({ target }) => choose(target.value)}
    >
      <option value="">An empty request</option>
      {HTTP_PRESETS.map((preset) => (
        <option key={preset.id} value={preset.id}>
          {preset.name}
        </option>
      ))}
    </SelectField>
  )
}
