// The fields of a channel, by its type.

import type { ChannelResource } from '../../../api/channels.ts'
import { toFieldErrors } from '../../../api/client.ts'
import { formatExample, SelectField, TextareaField, TextField } from '../../../ui/forms/field.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { type ChannelKind, isForPrograms } from '../channel-kinds.tsx'
import {
  type ChannelFormValues,
  type ChannelTexts,
  findAddressError,
  hasOwnMessages,
  isMasked,
  listensToForms,
} from './channel-values.ts'
import { EventFields } from './event-fields.tsx'
import { FilterFields } from './filter-fields.tsx'
import { MessageFields } from './message-fields.tsx'
import { PresetChoice, RequestFields } from './request-fields.tsx'
import { TimingFields } from './timing-fields.tsx'
import { UseForFields } from './use-for-fields.tsx'

/** Their errors are shown at their fields too. */
const MESSAGE_SETTINGS = [
  'template',
  'digest',
  'quietHours',
  'attachUpTo',
  'allForms',
  'formKeys',
  'events',
  'filter',
  'method',
  'headers',
  'body',
]

const MIB = 1024 * 1024
const ATTACHMENT_SIZES = [1, 5, 10]

export function ChannelFields({
  kind,
  editing,
  values,
  error,
  onChange,
}: {
  kind: ChannelKind
  editing?: ChannelResource
  values: ChannelFormValues
  error: Error | null
  onChange: (values: ChannelFormValues) => void
}) {
  const errors = toFieldErrors(error, ['name', ...kind.fields, ...MESSAGE_SETTINGS])
  const bind = (name: keyof ChannelTexts) => ({
    name,
    value: values[name],
    error: errors[name],
    onChange: (event: { target: { value: string } }) => onChange({ ...values, [name]: event.target.value }),
  })
  const keepHint = editing && isMasked(editing) ? 'Leave empty to keep the current one.' : undefined
  return (
    <>
      <p className="text-soft">{kind.about}</p>
      {(errors.general ?? errors.type) && <FormError>{errors.general ?? errors.type}</FormError>}
      {kind.type === 'http' && !editing && <PresetChoice {...{ values, onChange }} />}
      <TextField label="Name" placeholder={kind.label} maxLength={100} {...bind('name')} />
      {kind.fields.includes('to') && (
        <TextareaField
          label="Email addresses"
          hint="One per line, 20 at most. Each gets an email to confirm. Your own confirmed address needs none."
          required
          autoComplete="off"
          {...bind('to')}
          error={findAddressError(errors, values)}
        />
      )}
      {kind.type === 'email' && <AttachmentField {...{ values, errors, onChange }} />}
      {kind.fields.includes('url') && (
        <TextField
          label="URL"
          type="url"
          required={!keepHint}
          autoComplete="off"
          placeholder={formatExample(kind.urlExample)}
          hint={keepHint ?? kind.urlHint}
          {...bind('url')}
        />
      )}
      {kind.fields.includes('chatId') && <TelegramFields {...{ bind, keepHint }} />}
      {kind.type === 'http' && <RequestFields isNew={!editing} {...{ values, errors, onChange }} />}
      {isForPrograms(kind) && <EventFields {...{ values, errors, onChange }} />}
      {listensToForms(kind, values) && <UseForFields channel={editing} {...{ values, errors, onChange }} />}
      <div className="border-b border-line">
        {values.digest === null && <FilterFields {...{ values, errors, onChange }} />}
        {hasOwnMessages(kind) && (
          <>
            <MessageFields kind={kind} channel={editing} {...{ values, errors, onChange }} />
            <TimingFields {...{ values, errors, onChange }} />
          </>
        )}
      </div>
    </>
  )
}

function AttachmentField({
  values,
  errors,
  onChange,
}: {
  values: ChannelFormValues
  errors: Record<string, string>
  onChange: (values: ChannelFormValues) => void
}) {
  return (
    <SelectField
      label="Files"
      hint="Larger ones are links, which work for seven days."
      error={errors.attachUpTo}
      value={values.attachUpTo}
      onChange={(event) => onChange({ ...values, attachUpTo: Number(event.target.value) })}
    >
      <option value={0}>Send links</option>
      {ATTACHMENT_SIZES.map((size) => (
        <option key={size} value={size * MIB}>{`Attach up to ${size} MB`}</option>
      ))}
    </SelectField>
  )
}

function TelegramFields({
  bind,
  keepHint,
}: {
  bind: (name: keyof ChannelTexts) => object
  keepHint: string | undefined
}) {
  return (
    <>
      <TextField
        label="Bot token"
        type="password"
        required={!keepHint}
        autoComplete="off"
        hint={keepHint ?? 'From @BotFather.'}
        {...bind('botToken')}
      />
      <TextField
        label="Chat ID"
        required
        autoComplete="off"
        hint="The chat’s number, or the @name of a channel where the bot may post."
        {...bind('chatId')}
      />
    </>
  )
}
