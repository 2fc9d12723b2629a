// The text of a channel's messages: the server's own layout, or a template with a preview.

import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { previewChannel } from '../../../api/channels/change-channel.ts'
import type { ChannelResource, PreviewResource } from '../../../api/channels.ts'
import { toFieldErrors } from '../../../api/client.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { TextareaField, TextField, Toggle } from '../../../ui/forms/field.tsx'
import { FormError, findFieldError } from '../../../ui/forms/form-error.tsx'
import { PlaceholderButtons } from '../../../ui/forms/placeholder-buttons.tsx'
import type { ChannelKind } from '../channel-kinds.tsx'
import { type ChannelFormValues, type TemplateValues, toTemplate } from './channel-values.ts'

const NEW_TEMPLATE: TemplateValues = {
  subject: 'New submission: {{form}}',
  text: '{{field:name}} has sent {{form}}:\n\n{{fields}}',
}
const PLACEHOLDERS = [
  'form',
  'fields',
  'field:name',
  'field:email',
  'field:message',
  'attribution',
  'files',
  'url',
]

interface MessageFieldsProps {
  kind: ChannelKind
  /** undefined for a new channel, which has no preview yet. */
  channel: ChannelResource | undefined
  values: ChannelFormValues
  errors: Record<string, string>
  onChange: (values: ChannelFormValues) => void
}

export function MessageFields({ kind, channel, values, errors, onChange }: MessageFieldsProps) {
  const { template } = values
  const setTemplate = (next: TemplateValues | null) => onChange({ ...values, template: next })
  return (
    <CollapsibleSection
      title="Text of the messages"
      summary={template ? 'Your own' : 'Towpath’s own'}
      hasError={findFieldError(errors, 'template') !== undefined}
    >
      {errors.template && <FormError>{errors.template}</FormError>}
      <Toggle
        label="Write your own"
        hint="Otherwise, a message has all fields, the visitor’s source, and a link to the submission."
        checked={template !== null}
        onChange={(event) => setTemplate(event.target.checked ? NEW_TEMPLATE : null)}
      />
      {template && <TemplateFields kind={kind} template={template} errors={errors} onChange={setTemplate} />}
      {channel ? (
        <Preview channel={channel} template={template} />
      ) : (
        <p className="text-sm text-soft">A preview is available once the channel is created.</p>
      )}
    </CollapsibleSection>
  )
}

function TemplateFields({
  kind,
  template,
  errors,
  onChange,
}: Pick<MessageFieldsProps, 'kind' | 'errors'> & {
  template: TemplateValues
  onChange: (template: TemplateValues) => void
}) {
  const text = useRef<HTMLTextAreaElement>(null)
  return (
    <>
      <TextField
        label={kind.type === 'email' ? 'Subject' : 'Title'}
        maxLength={200}
        autoComplete="off"
        hint="Leave empty for the default."
        value={template.subject}
        onChange={(event) => onChange({ ...template, subject: event.target.value })}
        error={errors['template.subject']}
      />
      <div className="grid gap-2">
        <TextareaField
          label="Text"
          hint="Plain text. {{fields}} inserts all fields, {{field:company}} one. Files, attribution and link are added at the end unless your text has them."
          error={errors['template.text']}
          ref={text}
          rows={6}
          maxLength={5000}
          value={template.text}
          onChange={(event) => onChange({ ...template, text: event.target.value })}
        />
        <PlaceholderButtons
          names={PLACEHOLDERS}
          field={text}
          onChange={(next) => onChange({ ...template, text: next })}
        />
      </div>
    </>
  )
}

function Preview({ channel, template }: { channel: ChannelResource; template: TemplateValues | null }) {
  const api = useApi()
  const preview = useMutation({
    mutationFn: () => previewChannel(api, channel.id, toTemplate(template)),
    onError() {},
  })
  const errors = toFieldErrors(preview.error)
  return (
    <div className="grid gap-3">
      <div>
        <Button size="small" busy={preview.isPending} onClick={() => preview.mutate()}>
          {preview.data ? 'Update the preview' : 'Preview'}
        </Button>
      </div>
      {preview.error && <FormError>{Object.values(errors).join(' ')}</FormError>}
      <div aria-live="polite">{preview.data && <PreviewText preview={preview.data} />}</div>
    </div>
  )
}

const PreviewText = ({ preview: { submissionId, subject, text } }: { preview: PreviewResource }) => (
  <figure className="grid gap-1.5">
    <figcaption className="text-sm text-soft">
      {submissionId === null ? 'With sample values.' : `With the values of submission ${submissionId}.`}
    </figcaption>
    <div className="grid gap-2 rounded-lg bg-sunken px-3 py-2.5 text-sm">
      <p className="font-medium break-words">{subject}</p>
      <p className="break-words whitespace-pre-wrap">{text}</p>
    </div>
  </figure>
)
